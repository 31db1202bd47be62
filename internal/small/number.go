package small

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// decimal is an exact number: digits times ten to the power of exponent. digits neither begins nor ends with a zero;
// for zero it is empty.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// Bounds of a number's source text: no double needs more, and 1e999999999 as an integer would need a gigabyte.
const (
	maxDigits   = 800
	maxExponent = 400
)

// readDecimal reads a number's source text. It returns false if the text is beyond the bounds or not a decimal number.
func readDecimal(v *Value) (decimal, bool) {
	text := v.Text
	if v.Tag == IntTag {
		text = integerText(text)
	}
	text = strings.ReplaceAll(text, "_", "")
	var d decimal
	if rest, found := strings.CutPrefix(text, "-"); found {
		d.negative, text = true, rest
	}
	text = strings.TrimPrefix(text, "+")
	mantissa, power, _ := strings.Cut(strings.ReplaceAll(text, "E", "e"), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	if len(all) > maxDigits || !isDigits(all) {
		return decimal{}, false
	}
	d.digits = strings.TrimRight(all, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	if power != "" {
		n, err := strconv.Atoi(power)
		if err != nil || n > maxExponent || n < -maxExponent {
			return decimal{}, false
		}
		d.exponent = n
	}
	d.exponent += len(all) - len(d.digits) - len(fraction)
	d.digits = strings.TrimLeft(d.digits, "0")
	return d, true
}

// Number returns the exact number in JSON's form; "0" if the value is not a number, or is beyond the bounds.
func (v *Value) Number() string {
	d := decimal{}
	if v.Kind == Number {
		d, _ = readDecimal(v) // the zero decimal, if it cannot be read
	}
	return d.String()
}

// Double is like Number, but writes whole numbers without an exponent. ok is false for a number beyond the bounds, or
// beyond the range of a double.
func (v *Value) Double() (text string, ok bool) {
	d, ok := readDecimal(v)
	if !ok {
		return "", false
	}
	if _, err := strconv.ParseFloat(d.String(), 64); err != nil {
		return "", false
	}
	if d.exponent > 0 {
		d.digits, d.exponent = d.digits+strings.Repeat("0", d.exponent), 0
	}
	return d.String(), true
}

// integerText returns an integer in decimal; YAML allows other bases.
func integerText(text string) string {
	if digits := strings.TrimPrefix(text, "-"); isDigits(digits) && digits[0] != '0' {
		return text
	}
	var n any
	if err := (&yaml.Node{Kind: yaml.ScalarNode, Tag: IntTag, Value: text}).Decode(&n); err != nil {
		return ""
	}
	switch n := n.(type) {
	case int:
		return strconv.Itoa(n)
	case int64:
		return strconv.FormatInt(n, 10)
	case uint64:
		return strconv.FormatUint(n, 10)
	}
	return ""
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// String returns the number in a form that JSON and strconv read.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	if d.exponent == 0 {
		return sign + d.digits
	}
	return sign + d.digits + "e" + strconv.Itoa(d.exponent)
}

// canonicalNumber writes a number as RFC 8785 does (section 3.2.2.3, ECMAScript's number to string). ok is false if a
// double does not hold the number: an integer must equal the double; a fraction must be the double's shortest decimal,
// so that 0.1, 0.10 and 1e-1 are one number and 0.1000000000000000055 is another.
func canonicalNumber(v *Value) (text string, ok bool) {
	d, ok := readDecimal(v)
	if !ok {
		return "", false
	}
	if d.exponent == 0 && len(d.digits) <= 15 {
		return d.String(), true
	}
	double, err := strconv.ParseFloat(d.String(), 64)
	if err != nil || !d.isHeldBy(double) {
		return "", false
	}
	out, err := json.Marshal(double) // encoding/json writes numbers as ECMAScript does
	return string(out), err == nil
}

// isHeldBy reports whether double, the one nearest to d, represents d.
func (d decimal) isHeldBy(double float64) bool {
	if d.exponent < 0 {
		shortest, ok := readDecimal(&Value{Tag: FloatTag, Text: strconv.FormatFloat(double, 'e', -1, 64)})
		return ok && shortest == d
	}
	// 5 to the power of 23 does not fit into the 53 bits of a double.
	if d.exponent > 22 {
		return false
	}
	exact, ok := new(big.Int).SetString(d.digits+strings.Repeat("0", d.exponent), 10)
	if !ok {
		return false
	}
	if d.negative {
		exact.Neg(exact)
	}
	held, _ := big.NewFloat(double).Int(nil)
	return exact.Cmp(held) == 0
}
