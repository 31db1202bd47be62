// Package yamltext changes parts of a YAML text and leaves every other byte as it was. It knows the YAML that people
// and programs usually write. It parses each result, and refuses one with unintended content.
package yamltext
