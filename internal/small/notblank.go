package small

import (
	"strings"
)

// NotBlank reports whether a value is a mapping, binary data that is not empty, or a string with more than white
// space.
func NotBlank(v *Value) bool {
	if v == nil {
		return false
	}
	return v.Kind == Map || v.Kind == Other && v.Tag == BinaryTag && v.Text != "" ||
		v.Kind == String && strings.TrimSpace(v.Text) != ""
}
