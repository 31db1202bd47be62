package history

import "strings"

// IsObjectID reports whether s is a full object id as git writes it, of SHA-1 or SHA-256.
func IsObjectID(s string) bool { return (len(s) == 40 || len(s) == 64) && IsHex(s) }

// IsHex reports whether a text holds nothing but digits as git writes those of ids.
func IsHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// IsZero reports whether an id is git's null id, of any length: it stands for no object.
func IsZero(id string) bool { return id != "" && strings.Trim(id, "0") == "" }
