// Package yamltext changes parts of a YAML text and leaves every other byte as it was. It knows YAML well enough for what people
// and programs write; the result is read back, and refused if it says anything other than was meant.
package yamltext
