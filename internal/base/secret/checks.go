package secret

import (
	"encoding/base64"
	"encoding/json"
	"hash/crc32"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
)

// leastDifferent is the least number of different characters in a credential. One in a million random texts of 16 characters has fewer.
const leastDifferent = 7

// documented are parts of credentials from vendors' manuals and emulators, which are no secrets.
var documented = []string{
	"Eby8vdM02xNOcqFlqUwJ",         // Azurite
	"C2y6yDjf5/R+ob0N8A7C",         // Azure Cosmos DB emulator
	"pdFZKVeTuE8sk7oOcHrz",         // Slack's manual
	"16C7e42F292c6912E7710c838347", // GitHub's manual
	"ngeVfQFYQlKU0ufo8x5d",         // SendGrid's manual
	"IwzALxUPNbatRBj3Xi1U",         // Google Maps' manual
	"DaGmWKa4JsXZ-HjGw7IS",         // Firebase's manual
	"eyJzdWIiOiIxMjM0NTY3ODkwIiwi", // jwt.io
	"eyJpc3MiOiJqb2UiLA0KICJleHAi", // RFC 7519
	"eyJpc3MiOiJzdXBhYmFzZS1kZW1v", // Supabase on a local machine
}

// fillers are words that occur in placeholders.
var fillers = []string{"example", "placeholder", "redacted", "changeme", "dummy", "xxxx"}

// longFiller is the length from which a value may contain any word by chance.
const longFiller = 400

// varied reports whether a value is not a placeholder: no word such as EXAMPLE, no alphabet, no repetition.
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

// escaped matches an escape at the end of a text, as in a string (\n), a terminal's colour or a URL (%20). Its last letter is not part of a word.
var escaped = expression.Of(`(?:\\[abefnrtv]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[0-7]{3}|\[[0-9;]*m|%[0-9A-Fa-f]{2})$`)

// standsAlone reports whether no letter or digit precedes an offset, except as the end of an escape.
func standsAlone(text string, at int) bool {
	const longest = 24
	return at == 0 || !isAlphanumeric(text[at-1]) || escaped().MatchString(text[max(at-longest, 0):at])
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// word matches a part of a name: a word, perhaps in camel case, an abbreviation, or one of these with a number, or a number alone.
var word = expression.Of(`^(?:[A-Za-z]?|[A-Z]+|(?:[A-Z]?[a-z]{2,})+)[0-9]*$`)

// isName reports whether a value is words joined by hyphens, underscores, slashes or signs: a branch, a class, a path.
func isName(value string) bool {
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("-_/+=", r) }) {
		if !word().MatchString(part) {
			return false
		}
	}
	return true
}

var hexadecimal = expression.Of(`^[0-9a-f]+$`)

// mixed is the check varied, and more, for kinds whose values have letters of both cases, or letters and digits, and are neither names nor digests.
func mixed(whole, value string) bool {
	capitals, smalls, digits := strings.ToLower(value) != value, strings.ToUpper(value) != value, 0
	for i := range len(value) {
		if '0' <= value[i] && value[i] <= '9' {
			digits++
		}
	}
	const some = 3
	return (capitals && smalls || (capitals || smalls) && digits >= some) && !isName(value) && !hexadecimal().MatchString(value) && varied(whole, value)
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

// ascends reports whether a value contains part of the alphabet, or digits in order.
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

// isToken reports whether a value is a token of GitHub or npm: it contains its checksum, or it has a token's exact length and looks random. The latter is
// a token with a mistyped character, or a made-up one.
func isToken(whole, value string) bool {
	const length = 36
	_, body, _ := strings.Cut(value, "_")
	return checksummed(body) || len(body) == length && mixed(whole, body)
}

// checksummed reports whether a token, without its prefix, contains its checksum, even if other text follows it directly.
func checksummed(token string) bool {
	const digits, least, length = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 30, 6
	body := []byte(token)
	sum := crc32.ChecksumIEEE(body[:least])
	for n := least; n+length <= len(body); n++ {
		var want [length]byte
		for i, rest := length-1, sum; i >= 0; i-- {
			want[i] = digits[rest%uint32(len(digits))]
			rest /= uint32(len(digits))
		}
		if [length]byte(body[n:]) == want {
			return true
		}
		sum = crc32.Update(sum, crc32.IEEETable, body[n:n+1])
	}
	return false
}

// wholeRun and cutRun are the least number of base64 characters in one piece, in a complete private key and in one without its last line.
const wholeRun, cutRun = 16, 40

// run matches base64 in one piece, and an ellipsis for what was left out.
var run = expression.Of(`([A-Za-z0-9+/]{16,}={0,2})(\.\.\.|…)?`)

// keyBody reports whether a private key follows its first line.
func keyBody(whole, value string) bool {
	least := cutRun
	if strings.Contains(value, " PRIVATE KEY") {
		least = wholeRun
	}
	for _, m := range run().FindAllStringSubmatch(whole, -1) {
		piece, leftOut := m[1], m[2] != ""
		if len(piece) >= least && !leftOut && !hexadecimal().MatchString(piece) && !isName(piece) && different(piece) >= leastDifferent &&
			strings.ContainsAny(piece, "0123456789+/=") {
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

// placeholder matches a text that stands for a password: a variable, a word from documentation, letters that include a word such as "password".
var placeholder = expression.Of(`[$*{}()\[\]|,;…]|\.\.|%[sv]|^%[A-Za-z0-9_]+%$|^[A-Z_-]+$|(?i:example|xxx|placeholder|redacted|replace|change[-_]?me|insecure|fake)|` +
	`(?i:^[a-z_-]*(?:pass|secret|token|test|dev|docker|postgres)[a-z_-]*[0-9]{0,4}!?$)`)

// ownMachine matches a host that is always the local machine.
var ownMachine = expression.Of(`(?i)^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|0\.0\.0\.0|\[::1\])\.?(?::[0-9]*)?\.?$`)

// urlPassword reports whether a URL's password is no placeholder and its host is not the local machine. The password
// ends at the last "@" of the match, which may belong to text after the host, so it is also tried up to the first one.
func urlPassword(whole, password string) bool {
	_, rest, _ := strings.Cut(whole, ":")
	user, _, _ := strings.Cut(strings.TrimLeft(rest, `\/`), ":")
	if ownMachine().MatchString(whole[strings.LastIndexByte(whole, '@')+1:]) {
		return false
	}
	first, _, _ := strings.Cut(password, "@")
	return isPassword(user, password) || isPassword(user, first)
}

// isPassword reports whether a password is neither a placeholder nor the user's name.
func isPassword(user, password string) bool {
	const least = 4
	return !strings.EqualFold(user, password) && !placeholder().MatchString(password) && different(password) >= least && !ascends(password)
}
