// Package yamltext changes parts of a YAML text and leaves every other byte as it was. It knows YAML well enough for what people
// and programs write; whoever uses it reads the result back, and refuses what says something else than was meant.
package yamltext
