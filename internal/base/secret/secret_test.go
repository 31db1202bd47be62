package secret

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
)

const (
	digits  = "0123456789"
	hexes   = digits + "abcdef"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letters = digits + capital + "abcdefghijklmnopqrstuvwxyz"
	base64s = letters + "+/"
	urls    = letters + "_-"
)

// dice draws the made-up credentials: none may be in this file, where a hosting service would find it.
var dice = rand.New(rand.NewPCG(1, 2))

func draw(n int, alphabet string) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[dice.IntN(len(alphabet))]
	}
	return string(out)
}

func withChecksum(prefix string, n int) string {
	body := draw(n, letters)
	sum, end := crc32.ChecksumIEEE([]byte(body)), ""
	for range 6 {
		end = letters[sum%62:sum%62+1] + end
		sum /= 62
	}
	return prefix + body + end
}

func key(kind string) string {
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed([]byte(draw(ed25519.SeedSize, letters))))
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func jwt(header, claims string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(header)) + "." + enc([]byte(claims)) + "." + draw(43, urls)
}

// credentials has a few of each kind, by its name.
func credentials() map[string][]string {
	claims := fmt.Sprintf(`{"sub":"svc-%s","exp":1999999999}`, draw(9, hexes))
	webToken := jwt(`{"alg":"HS256","typ":"JWT"}`, claims)
	return map[string][]string{
		"AWS access key id": {"AKIA" + draw(16, capital+"234567"), "ASIA" + draw(16, capital+"234567")},
		"AWS access key secret": {"AWS_SECRET_ACCESS_KEY=" + draw(40, base64s), `"SecretAccessKey": "` + draw(40, base64s) + `"`, "aws_secret_access_key = " + draw(40, base64s), `{\"secretAccessKey\":\"` + draw(40, base64s) + `\"}`,
			"aws configure set aws_secret_access_key " + draw(40, base64s), "tool --secret-access-key " + draw(40, base64s), "<SecretAccessKey>" + draw(40, base64s) + "</SecretAccessKey>",
			"| aws_secret_access_key | " + draw(40, base64s) + " |", "`AWS_SECRET_ACCESS_KEY`: `" + draw(40, base64s) + "`", "AWS_SECRET_ACCESS_KEY: >-\n  " + draw(40, base64s),
			`{"AWS_SECRET_ACCESS_KEY":["` + draw(40, base64s) + `"]}`, "AWS secret access key: " + draw(40, base64s)},
		"GitHub token":              {withChecksum("ghp_", 30), withChecksum("gho_", 30), withChecksum("ghu_", 30), withChecksum("ghs_", 30), withChecksum("ghr_", 70), "token" + withChecksum("ghp_", 30) + "and", withChecksum("ghp_", 30) + "_x", "ghp_" + draw(36, letters)},
		"GitHub installation token": {"ghs_12345_" + webToken},
		"GitHub fine-grained token": {"github_pat_" + draw(22, letters) + "_" + draw(59, letters)},
		"GitLab token": {"glpat-" + draw(20, urls), "glpat-" + draw(27, urls) + ".01." + draw(9, hexes), "gldt-" + draw(20, urls), "glrt-" + draw(20, urls),
			"glcbt-64_" + draw(20, urls), "glptt-" + draw(40, hexes), "GR1348941" + draw(20, urls)},
		"Slack token": {"xoxb-" + draw(12, digits) + "-" + draw(12, digits) + "-" + draw(24, letters),
			"xoxp-" + draw(12, digits) + "-" + draw(12, digits) + "-" + draw(12, digits) + "-" + draw(32, hexes),
			"xapp-1-A" + draw(10, capital) + "-" + draw(13, digits) + "-" + draw(64, hexes),
			"xoxe.xoxp-1-" + draw(160, letters), "xoxe-1-" + draw(140, letters), "xoxd-" + draw(90, letters)},
		"Slack webhook": {"https://hooks.slack.com/services/T" + draw(10, capital) + "/B" + draw(10, capital) + "/" + draw(24, letters),
			`https:\/\/hooks.slack.com\/services\/T` + draw(10, capital) + `\/B` + draw(10, capital) + `\/` + draw(24, letters)},
		"Stripe live key":            {"sk_live_" + draw(24, letters), "rk_live_" + draw(99, letters)},
		"Google API key":             {"AIza" + "Sy" + draw(33, urls)},
		"Google OAuth client secret": {"GOCSPX-" + draw(28, urls)},
		"npm token":                  {withChecksum("npm_", 30), "npm_" + draw(36, letters)},
		"PyPI token":                 {"pypi-AgEIcHlwaS5vcmc" + draw(140, urls), "pypi-AgENdGVzdC5weXBpLm9yZw" + draw(140, urls)},
		"Anthropic key":              {"sk-ant-api03-" + draw(93, urls) + "AA", "sk-ant-admin01-" + draw(93, urls) + "AA", "sk-ant-oat01-" + draw(93, urls) + "AA"},
		"OpenAI key":                 {"sk-" + draw(20, letters) + "T3BlbkFJ" + draw(20, letters), "sk-proj-" + draw(74, urls) + "T3BlbkFJ" + draw(74, urls), "sk-svcacct-" + draw(120, urls)},
		"SendGrid key":               {"SG." + draw(22, urls) + "." + draw(43, urls)},
		"Twilio API key":             {"SK" + draw(32, hexes), "SK" + draw(32, hexes) + ":" + draw(32, letters)},
		"Twilio auth token":          {"AC" + draw(32, hexes) + ":" + draw(32, hexes), "TWILIO_AUTH_TOKEN=" + draw(32, hexes), `"twilioAuthToken": "` + draw(32, hexes) + `"`},
		"Azure account key": {"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=" + draw(86, base64s) + "==;EndpointSuffix=core.windows.net", "SharedAccessKeyName=a;SharedAccessKey=" + draw(43, base64s) + "=",
			`"AccountKey":"` + draw(86, base64s) + `=="`, "accountKey: " + draw(86, base64s) + "=="},
		"Azure client secret":           {draw(3, letters) + "8Q~" + draw(34, letters), draw(3, letters) + "7Q~" + draw(31, letters)},
		"Azure shared access signature": {"https://x.blob.core.windows.net/c/b?sv=2022-11-02&sr=b&sig=" + draw(20, letters) + "%2F" + draw(22, letters) + "%3D&se=2027"},
		"private key": {key("PRIVATE KEY"), key("RSA PRIVATE KEY"), strings.ReplaceAll(key("PRIVATE KEY"), "\n", "\n      "), strings.ReplaceAll(key("PRIVATE KEY"), "\n", `\n`),
			strings.ReplaceAll(key("EC PRIVATE KEY"), "\n", " "), strings.Split(key("OPENSSH PRIVATE KEY"), "-----END")[0], "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n" + draw(64, base64s) + "\n" + draw(30, base64s) + "\n=" + draw(4, base64s) + "\n-----END PGP PRIVATE KEY BLOCK-----",
			"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,7E5B\n\n" + draw(64, base64s) + "\n-----END RSA PRIVATE KEY-----",
			strings.ReplaceAll(key("PRIVATE KEY"), "\n", "\n> "), strings.ReplaceAll(key("PRIVATE KEY"), "\n", "\n# "), strings.ReplaceAll(key("PRIVATE KEY"), "\n", "\n12: "),
			strings.ReplaceAll(key("PRIVATE KEY"), "\n", `\n" +`+"\n\""), strings.ReplaceAll(key("PRIVATE KEY"), "\n", `\u000a`), strings.ReplaceAll(key("PRIVATE KEY"), "\n", "%0A"),
			"-----BEGIN PRIVATE KEY-----\n" + draw(64, base64s) + "\n" + draw(64, base64s) + "...", "> -----BEGIN PRIVATE KEY-----\n> " + draw(64, base64s) + "\n> " + draw(64, base64s),
			"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: \"x\"\n" + draw(70, base64s) + "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
			"Private-Lines: 2\n" + draw(64, base64s) + "\n" + draw(64, base64s) + "\nPrivate-MAC: " + draw(64, hexes)},
		"JSON web token": {webToken},
		"password in a URL": {"https://deploy:" + draw(12, letters) + "@git.acme.dev/x.git", "postgres://app:" + draw(12, urls) + "@db:5432/app", "redis://:" + draw(16, hexes) + "@cache.acme.dev",
			"https://a:" + draw(12, letters) + "@" + draw(12, letters) + "@acme.dev/x", `https:\/\/a:` + draw(12, letters) + `@acme.dev\/x`, `postgres:\\\/\\\/a:` + draw(12, letters) + `@acme.dev`, "https:/a:" + draw(12, letters) + "@acme.dev",
			"https://me@acme.dev:" + draw(12, letters) + "@acme.dev/x", "https://a:" + draw(12, letters) + "@localhost.acme.dev/x", "https://a:" + draw(12, letters) + "@127.0.0.1.nip.io",
			"postgres://app:P@ssw0rd@db/x", "redis://:letmein@cache", "https://user:s3cret@host"},
	}
}

// What a mask says is no name of another credential, and masking ends soon even if each mask makes the text after it look like one.
func TestMaskStaysMask(t *testing.T) {
	for i := range Shapes {
		if marker := "…(masked " + Shapes[i].Name + ")"; Suspected(marker) {
			t.Errorf("%s has a literal of a credential", marker)
		}
	}
	const digest = "q83vEjRWeJq83vEjRWeJASNFZ4mrze8BI0VniavN"
	text := credentials()["AWS access key secret"][0]
	if masked := Mask(text + " " + digest); !strings.HasSuffix(masked, " "+digest) {
		t.Errorf("masked as %q", masked)
	}
	for lastLines, kept := range map[int]bool{1: true, 3: true, 200: false} {
		masked := Mask("-----BEGIN PRIVATE KEY-----" + strings.Repeat(`\n`+digest+`\n-----END PRIVATE KEY-----`, lastLines) + " after")
		if strings.Contains(masked, digest) || strings.HasSuffix(masked, ") after") != kept {
			t.Errorf("%d last lines: %q", lastLines, masked)
		}
		if again := Mask(masked); again != masked {
			t.Errorf("masked again: %q, once: %q", again, masked)
		}
	}
}

// Every kind is found in the middle of text, is named, and only its prefix remains.
func TestFindsEveryKind(t *testing.T) {
	cases := credentials()
	for i := range Shapes {
		if len(cases[Shapes[i].Name]) == 0 {
			t.Errorf("no case of %s", Shapes[i].Name)
		}
		if !strings.HasPrefix(Shapes[i].Source, "https://") {
			t.Errorf("%s has no source", Shapes[i].Name)
		}
	}
	for name, list := range cases {
		for _, c := range list {
			for _, around := range []string{"%s", "before %s after", "X='%s'", "a=%s,b", `{"x":"%s"}`, "line\n%s\nline", "\x1b[32m%s\x1b[0m", `\033[1;32m%s\033[0m`, `\u001b[32m%s`, `\x22%s\x22`, `\u0022%s\u0022`, `escaped\n%s\nline`, "(%s)", "token:%s.", "%s\t"} {
				text := fmt.Sprintf(around, c)
				found := Find(text)
				if len(found) != 1 {
					t.Errorf("%s: %d found in %q", name, len(found), text)
					continue
				}
				value := text[found[0].Start:found[0].End]
				if found[0].Shape.Name != name {
					t.Errorf("%q is called %s, not %s", text, found[0].Shape.Name, name)
				}
				masked := Mask(text)
				if secret := strings.TrimPrefix(value, found[0].Shape.Prefix(value)); strings.Contains(masked, secret[:min(8, len(secret))]) || !strings.Contains(masked, "(masked "+name+")") {
					t.Errorf("%s: %q is masked as %q", name, text, masked)
				}
				if again := Mask(masked); again != masked {
					t.Errorf("masked again: %q, once: %q", again, masked)
				}
			}
		}
	}
}

// Other values are left alone: documented examples, placeholders, variables, names, digests.
func TestLeavesAlone(t *testing.T) {
	for _, text := range []string{
		"", "exit 0", "see https://example.org/a:b@c and mail me@example.org", "AKIA", "ghp_", "-----BEGIN PRIVATE KEY-----",
		"AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AKIAI44QH8DHBEXAMPLE",
		"AKIAXXXXXXXXXXXXXXXX", "AKIA" + "1234567890ABCDEF", "AKIA0000000000000000",
		"AWS_SECRET_ACCESS_KEY=${AWS_SECRET_ACCESS_KEY}", "AWS_SECRET_ACCESS_KEY=<your secret access key of forty characters>",
		"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "gho_16C7e42F292c6912E7710c838347Ae178B4a", "ghs_16C7e42F292c6912E7710c838347Ae178B4a",
		"ghp_" + draw(37, letters), "npm_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_" + draw(36, hexes), "$GITHUB_TOKEN", "${GITHUB_TOKEN}", "ghp_<token>", "ghp_%s", "ghp_************************************",
		"github_pat_" + strings.Repeat("x", 22) + "_" + strings.Repeat("x", 59),
		"glpat-xxxxxxxxxxxxxxxxxxxx", "glpat-your-access-token-goes-here", "glrt-is-the-prefix-of-runner-tokens",
		"xoxb-not-a-real-token-this-will-not-work", "xoxb-your-token", "xoxb-17653672481-19874698323-" + "pdFZKVeTuE8sk7oOcHrzqqgy",
		"https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
		"sk_test_" + draw(24, letters), "sk_live_...", "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx", "sk_live_abcdefghijklmnopqrstuvwx", "task_live_updates_for_the_dashboard_page",
		"AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX", "sk-ant-api03-...", "sk-ant-your-key", "sk-proj-your-key-here-and-a-very-long-name-without-a-digit",
		"SG.xxxxxxxxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "SKxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "TWILIO_AUTH_TOKEN=your_auth_token",
		"AC00000000000000000000000000000000:00000000000000000000000000000000",
		"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==", "AccountKey=<key>;",
		"grep -r -- '-----BEGIN RSA PRIVATE KEY-----' . finds Nothing in 4 files", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ...\n-----END PRIVATE KEY-----",
		"from -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----\n" + draw(64, base64s) + "\n-----END PUBLIC KEY-----",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
		"eyJhbGciOi.eyJzdWIiOi.notreallyajsonwebtoken", "eyJrZXkiOiJ2YWx1ZSJ9",
		"https://user:password@github.com/x", "https://x-access-token:${GITHUB_TOKEN}@github.com/x", "https://oauth2:$CI_JOB_TOKEN@gitlab.com", "https://oauth2:YOUR_TOKEN@gitlab.com",
		"https://<user>:<password>@host", "postgres://app:replace-me-with-something@db/x", "https://app:FAKE_secret@vault", "https://user:%s@host", "https://user:********@host/", "postgres://postgres:postgres@db/x", "postgres://app:" + draw(12, letters) + "@localhost:5432/app",
		"http://127.0.0.1:8080/a@b", "https://ci.acme.dev:8443/x@1.2.3", "git@github.com:acme/x.git", "ssh://git@github.com:22/x", "https://a.dev/?q=x:y@z",
		"redis://:" + draw(12, letters) + "@127.0.0.1:6379,x", "redis://:" + draw(12, letters) + "@db.localhost.", "redis://:" + draw(12, letters) + "@[::1]:6379/0",
		"postgres://app:local_dev@db", "postgres://app:development@db", "postgres://app:docker@db", "postgres://ci:ci_password@postgres:5432", "postgres://u:mysecretpassword@h", "postgres://u:devsecret12@h",
		"https://user:your-password-here@host", "postgres://app:%PGPASSWORD%@db",
		"test: header -----BEGIN PRIVATE KEY----- rejected see internal/gate/rules/workspace/secret", "-----BEGIN PRIVATE KEY-----: internal/gate/rules/workspace/secretRule/testdata/v2/keys",
		"the lines from -----BEGIN PRIVATE KEY----- in commit " + draw(40, hexes) + " to -----END PRIVATE KEY-----", "Private-Lines: 8",
		"sk-proj-rename-the-whole-project-from-A-to-B-and-2026-01-02", "sk-admin-dashboard-navigation-Component-v2-refactoring-1234", "sk-None-of-the-above-is-relevant-to-our-Case-number-12345",
		"branch sk-proj-2026-Q3-migrate-importer-to-the-new-streaming-API-v2", "task-proj-" + draw(50, hexes), "gldt-Rename-The-Whole-Thing-2026", "glft-feature-branch-for-the-Release-2026", "glrt-someCamelCase_and-2026-words",
		"secretAccessKey: " + draw(40, hexes), "AWS_SECRET_ACCESS_KEY: /etc/secrets/platform/Production/aws-key1", "https://acme.dev/app.tgz?sig=" + draw(43, base64s) + "=", "TASK" + draw(16, capital), "TWILIO_AUTH_TOKEN: md5 " + draw(32, hexes),
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJzdXBhYmFzZS1kZW1vIiwicm9sZSI6ImFub24iLCJleHAiOjE5ODM4MTI5OTZ9.CRXP1A7WOeoJeXxjNni43kdQwgnWNReilDMblYTn_I0",
		"sha256:" + draw(64, hexes), draw(40, hexes), draw(64, letters), "h1:" + draw(43, base64s) + "=", "9f1c-" + draw(32, hexes), "TASK" + draw(32, hexes),
	} {
		if found := Find(text); len(found) > 0 {
			t.Errorf("%q is taken for %s", text, found[0].Shape.Name)
		}
		if masked := Mask(text); masked != text {
			t.Errorf("%q is masked as %q", text, masked)
		}
	}
}

// A field's name may mark its value as a credential.
func TestMaskKind(t *testing.T) {
	masked := func(field, value string) string {
		out, _ := MaskKind(field, value)
		return out
	}
	value := draw(40, base64s)
	for _, field := range []string{"env.aws_secret_access_key", "evidence.AWS_SECRET_ACCESS_KEY.0", "secret-access-key"} {
		for _, value := range []string{value, `["` + value + `"]`, "\n" + value} {
			if got := masked(field, value); strings.Contains(got, value[4:12]) {
				t.Errorf("%s: not masked: %s", field, got)
			}
		}
	}
	for _, field := range []string{"evidence", "command", ""} {
		if got := masked(field, value); got != value {
			t.Errorf("%s: masked: %s", field, got)
		}
	}
}

// An edit that damages a credential shows no more of it than any other edit, whichever side is damaged.
func TestMaskChange(t *testing.T) {
	token := withChecksum("ghp_", 30)
	body := token[len("ghp_"):]
	for _, damaged := range []string{
		body, token + "x", "x" + token, token[:20], token[:38], token[:20] + " " + token[20:], token[:20] + "\u200b" + token[20:],
		body[:7] + " " + body[7:14] + " " + body[14:21] + " " + body[21:], token[:9] + "-" + token[10:], token + " and " + body,
	} {
		for _, sides := range [][2]string{{"token " + token + " used", "token " + damaged + " used"}, {"token " + damaged + " used", "token " + token + " used"}} {
			from, to := MaskChange("evidence", sides[0], sides[1])
			for i := range len(body) - 4 {
				if strings.Contains(from+to, body[i:i+4]) {
					t.Fatalf("%q to %q: %q is shown in %q, %q", sides[0], sides[1], body[i:i+4], from, to)
				}
			}
			if from == to || !strings.Contains(from+to, "GitHub token") {
				t.Errorf("%q to %q: %q, %q", sides[0], sides[1], from, to)
			}
			if again, then := MaskChange("evidence", from, to); again != from || then != to {
				t.Errorf("masked again: %q, %q", again, then)
			}
		}
	}
	if from, to := MaskChange("evidence", "a "+token, ""); from != "a ghp_…(masked GitHub token)" || to != "" {
		t.Errorf("what is gone: %q, %q", from, to)
	}
	if from, to := MaskChange("evidence", "a", "b"); from != "a" || to != "b" {
		t.Errorf("without any: %q, %q", from, to)
	}
}

func TestSeveral(t *testing.T) {
	a, b := withChecksum("ghp_", 30), "AKIA"+draw(16, capital)
	got := Mask("https://x:" + a + "@github.com, " + b + "," + b + " and\n" + a)
	want := "https://x:ghp_…(masked GitHub token)@github.com, AKIA…(masked AWS access key id),AKIA…(masked AWS access key id) and\nghp_…(masked GitHub token)"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A false match does not hide a credential that begins in it.
func TestNoneHidesAnother(t *testing.T) {
	mine, documented := draw(12, letters), "AIzaIwzALxUPNbatRBj3Xi1Uhp0hFucwjVY5R8x"
	for _, text := range []string{
		"postgres://postgres:postgres@db:5432,postgres://app:" + mine + "@h", "redis://:devdevdev@localhost,redis://:" + mine + "@h", "http://user:password@h;https://app:" + mine + "@h",
		documented + " AIza" + mine + draw(23, letters), documented + "\nAIza" + mine + draw(23, letters), "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY aws_secret_access_key=" + mine + draw(28, letters),
		"-----BEGIN PRIVATE KEY----- is refused\n-----BEGIN PRIVATE KEY-----\n" + mine + draw(52, letters) + "\n-----END PRIVATE KEY-----",
	} {
		if masked := Mask(text); strings.Contains(masked, mine) {
			t.Errorf("%q is masked as %q", text, masked)
		}
	}
	a, b := withChecksum("ghp_", 30), withChecksum("ghp_", 30)
	if masked := Mask(a + b); masked != "ghp_…(masked GitHub token)" {
		t.Errorf("two in one word: %q", masked)
	}
	for _, around := range []string{"https://a:%s@%s@acme.dev", "https://a:%s@acme.dev;me@%s", "https://a:%s@h1|b:%s@h2"} {
		text := fmt.Sprintf(around, mine, draw(12, letters))
		if masked := Mask(text); strings.Contains(masked, mine) {
			t.Errorf("%q is masked as %q", text, masked)
		}
	}
}

// No text makes it panic; a masked text has no credential, and masking it again changes nothing.
func FuzzMask(f *testing.F) {
	for _, list := range credentials() {
		for _, c := range list {
			f.Add(c, c)
			f.Add(c+"@", ":"+c)
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, text := range []string{a, b, a + b, a + ":" + b + "@" + a, "-----BEGIN PRIVATE KEY-----" + a + b} {
			masked := Mask(text)
			if found := Find(masked); len(found) > 0 {
				t.Errorf("%q is left in %q", masked[found[0].Start:found[0].End], masked)
			}
			if again := Mask(masked); again != masked {
				t.Errorf("%q becomes %q", masked, again)
			}
			if len(Find(text)) == 0 && masked != text {
				t.Errorf("%q becomes %q", text, masked)
			}
		}
	})
}

// The time is linear in the text, even if it has every literal and nothing matches.
func BenchmarkFind(b *testing.B) {
	for name, text := range map[string]string{
		"evidence":                   "go test ./... passes; 1204 rows of https://example.org/rows?id=7 read by importer/read.go:120, see commit 1c8dd239",
		"token":                      "GITHUB_TOKEN=" + withChecksum("ghp_", 30) + " gh pr list",
		"hostile":                    strings.Repeat("-----BEGIN PRIVATE KEY-----\nA: b\nAA eyJaa.eyJ https://a:b ghs_a_eyJ sk-T3BlbkFJ @", 100),
		"hostile, inside each other": strings.Repeat("eyJ-", 2000) + strings.Repeat(".eyJaaaaaaaaa.aaaaaaaaaaaaaaaa-eyJ", 200),
		"hostile, ten times as long": strings.Repeat("-----BEGIN PRIVATE KEY-----\nA: b\nAA eyJaa.eyJ https://a:b ghs_a_eyJ sk-T3BlbkFJ @", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Find(text)
			}
		})
	}
}
