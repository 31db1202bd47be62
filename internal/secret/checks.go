package secret

import (
	"encoding/base64"
	"encoding/json"
	"hash/crc32"
	"strings"

	"github.com/small-gate/small-gate/internal/expression"
)

// leastDifferent is how many different characters a credential has at least. Of a random one with 16 characters, one in a million has fewer.
const leastDifferent = 7

// documented are beginnings of credentials that their vendors print in manuals or build into emulators.
var documented = []string{
	"Eby8vdM02xNOcqFlqUwJ",         // Azurite
	"C2y6yDjf5/R+ob0N8A7C",         // Azure Cosmos DB emulator
	"pdFZKVeTuE8sk7oOcHrz",         // Slack's manual
	"ngeVfQFYQlKU0ufo8x5d",         // SendGrid's manual
	"IwzALxUPNbatRBj3Xi1U",         // Google Maps' manual
	"DaGmWKa4JsXZ-HjGw7IS",         // Firebase's manual
	"eyJzdWIiOiIxMjM0NTY3ODkwIiwi", // jwt.io
	"eyJpc3MiOiJqb2UiLA0KICJleHAi", // RFC 7519
	"AYEKFALVFGyNhPJEMzD1",         // Go's page on signed notes
}

// fillers are words of placeholders.
var fillers = []string{"example", "placeholder", "redacted", "changeme", "dummy", "xxxx"}

// longFiller is the length from which a value may hold any word by chance.
const longFiller = 400

// varied reports whether a value is no placeholder: no word such as EXAMPLE, no alphabet, no repetition.
func varied(_, value string) bool {
	for _, known := range documented {
		if strings.Contains(value, known) {
			return false
		}
	}
	if lower := strings.ToLower(value); len(value) < longFiller {
		for _, word := range fillers {
			if strings.Contains(lower, word) {
				return false
			}
		}
	}
	return !ascends(value) && different(value) >= leastDifferent
}

// variedEnd is varied for what stands after the last hyphen: before it are numbers of accounts.
func variedEnd(whole, value string) bool {
	return varied(whole, value[strings.LastIndexByte(value, '-')+1:])
}

// variedNote is varied for the key at the end of a signed note's private key: the name before it may well hold "example".
func variedNote(whole, value string) bool {
	const fields, key = 5, 4
	return varied(whole, strings.SplitN(value, "+", fields)[key])
}

// mixed is varied for values that are no words with hyphens: capital and small letters, or letters and digits.
func mixed(whole, value string) bool {
	capitals, smalls, digits := strings.ToLower(value) != value, strings.ToUpper(value) != value, 0
	for i := range len(value) {
		if '0' <= value[i] && value[i] <= '9' {
			digits++
		}
	}
	const some = 3
	return (capitals && smalls || (capitals || smalls) && digits >= some) && varied(whole, value)
}

// different counts the different bytes of a value.
func different(value string) int {
	var seen [256]bool
	n := 0
	for i := range len(value) {
		if !seen[value[i]] {
			seen[value[i]] = true
			n++
		}
	}
	return n
}

// ascends reports whether a value holds a part of the alphabet, or digits in order.
func ascends(value string) bool {
	const long = 8
	run := 1
	for i := 1; i < len(value); i++ {
		a, b := value[i-1], value[i]
		if b == a+1 || a == '9' && b == '0' {
			run++
		} else {
			run = 1
		}
		if run == long {
			return true
		}
	}
	return false
}

// checksummed reports whether the last six characters of a token are the checksum of what stands between its prefix and them.
func checksummed(_, value string) bool {
	const digits, length = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 6
	body := value[strings.IndexByte(value, '_')+1:]
	body, want := body[:len(body)-length], body[len(body)-length:]
	sum := crc32.ChecksumIEEE([]byte(body))
	var got [length]byte
	for i := length - 1; i >= 0; i-- {
		got[i] = digits[sum%uint32(len(digits))]
		sum /= uint32(len(digits))
	}
	return string(got[:]) == want
}

// line is how much base64 a private key has in one piece, whole and cut off: words are shorter.
const wholeLine, cutLine = 16, 32

var breaks = expression.Of(lineBreak + `+`)

// keyBody reports whether what follows the first line of a private key is one.
func keyBody(_, value string) bool {
	body, _, ends := strings.Cut(value, "-----END")
	if strings.HasSuffix(body, "...") || strings.HasSuffix(body, "…") {
		return false
	}
	least := cutLine
	if ends {
		least = wholeLine
	}
	for _, piece := range breaks().Split(body, -1) {
		if len(piece) >= least && different(piece) >= leastDifferent && strings.ContainsAny(piece, "0123456789+/=") {
			return true
		}
	}
	return false
}

// webToken reports whether three parts are a signed token: a header with an algorithm, and claims.
func webToken(whole, value string) bool {
	parts := strings.Split(value, ".")
	var header struct{ Alg string }
	var claims map[string]any
	return decodes(parts[0], &header) && header.Alg != "" && decodes(parts[1], &claims) && varied(whole, value)
}

func decodes(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}

// wordForPassword is what documents write in a password's place.
var wordForPassword = expression.Of(`(?i)^(?:(?:my|your|the|some|db|database|user|username|api|access|auth|admin|root|test|personal|github|gitlab|super|very|app|bot|deploy)[-_]?)*` +
	`(?:pass|passwd|password|passphrase|pw|pwd|secret|token|pat|key|credentials?|changeme|foobar|example|redacted|masked|hidden|removed|test|testing|admin|root|user|username|postgres|mysql|guest|x-oauth-basic)[-_]?[0-9]{0,4}[!]?$`)

// ownMachine is a host that is only one's own machine.
var ownMachine = expression.Of(`(?i)^(?:(?:[a-z0-9.-]+\.)?localhost|127\.[0-9.]+|0\.0\.0\.0|\[::1\])(?:[:.,;)]|$)`)

// urlPassword reports whether the password in a URL is one, and no placeholder, variable, or the user's name again; and opens more than
// one's own machine.
func urlPassword(whole, password string) bool {
	_, rest, _ := strings.Cut(whole, "://")
	user, _, _ := strings.Cut(rest, ":")
	host := whole[strings.LastIndexByte(whole, '@')+1:]
	switch {
	case strings.ContainsAny(password, "$*{}()[]|,;…") || strings.Contains(password, "..") || strings.Contains(password, "%s") || strings.Contains(password, "%v"):
		return false
	case strings.EqualFold(user, password) || wordForPassword().MatchString(password):
		return false
	case strings.ToUpper(password) == password && strings.Trim(password, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == "":
		return false // the name of a variable
	case ownMachine().MatchString(host):
		return false
	}
	lower := strings.ToLower(password)
	for _, word := range []string{"example", "xxx", "placeholder", "redacted", "replace", "changeme", "change-me", "change_me", "insecure", "fake"} {
		if strings.Contains(lower, word) {
			return false
		}
	}
	return different(password) >= 4 && !ascends(password)
}
