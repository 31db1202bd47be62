package small

import (
	"strings"
)

// NotBlank reports whether a value is a mapping, or a string with something
// but white space in it.
func NotBlank(v *Value) bool {
	if v == nil {
		return false
	}
	return v.Kind == Map || v.Kind == Other && v.Tag == BinaryTag && v.Text != "" ||
		v.Kind == String && strings.TrimSpace(v.Text) != ""
}
