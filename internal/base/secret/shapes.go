package secret

import (
	"regexp"

	"github.com/small-gate/small-gate/internal/base/expression"
)

// Shape is the form of one kind of credentials.
type Shape struct {
	// Name is what messages call the kind: "GitHub token", "private key".
	Name string
	// Literals are texts of at least two bytes. A credential of the kind is looked for only where the text has one of them.
	Literals []string
	// Source is where the form is documented.
	Source string

	// lines is true if the credential, or what stands between its name and its value, may go over several lines. also is a text that must be in
	// the same line as the literal. alone is true if no letter or digit may precede a credential; a long prefix or a checksum makes that unnecessary.
	lines      bool
	also       string
	alone      bool
	expression func() *regexp.Regexp
	// check reports whether a match is a credential. It gets the whole match, and the credential in it.
	check func(whole, value string) bool
}

// token returns the expression for a credential that begins with a literal.
func token(text string) func() *regexp.Regexp { return expression.Of(`(` + text + `)`) }

// ended returns the expression for a credential that no letter or digit may follow.
func ended(text string) func() *regexp.Regexp {
	return expression.Of(`(` + text + `)(?:[^A-Za-z0-9]|$)`)
}

// assigned returns the expression for a value that follows one of some names. Only punctuation, white space and its escapes may stand between: `=`,
// `: >`, `["`, `\n`; the name may end in a number, as in a list of properties (`.0`).
func assigned(names, value string) func() *regexp.Regexp {
	return expression.Of(`(?:` + names + `)(?:\.[0-9]+)?(?:[^A-Za-z0-9+/]|\\[nrt]){1,20}(` + value + `)(?:[^A-Za-z0-9+/=]|$)`)
}

// Shapes are all kinds that are searched for. Kinds that have neither a prefix nor a field with a name of its own are left out: a long random text may
// be a digest.
var Shapes = []Shape{
	{
		Name: "AWS access key id", Literals: []string{"AKIA", "ASIA"},
		Source:     "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
		expression: ended(`(?:AKIA|ASIA)[A-Z0-9]{16}`), check: varied, alone: true,
	},
	{
		// The vendor's words are "secret access key". They are a literal of this kind, and a mask with them would mark what follows as a credential.
		Name: "AWS access key secret", lines: true,
		Literals: []string{"aws_secret", "AWS_SECRET", "awsSecret", "AwsSecret", "aws-secret", "secret_access_key", "SECRET_ACCESS_KEY",
			"secretAccessKey", "SecretAccessKey", "secret-access-key", "secret access key", "Secret access key"},
		Source:     "https://docs.aws.amazon.com/IAM/latest/UserGuide/security-creds-programmatic-access.html",
		expression: assigned(`(?i:secret[_ -]?access[_ -]?key|aws[_ -]?secret[_ -]?key)`, `[A-Za-z0-9/+]{40}`), check: mixed,
	},
	{
		Name: "GitHub token", Literals: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"},
		Source:     "https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/",
		expression: token(`gh[pousr]_[A-Za-z0-9]{36,}`), check: isToken,
	},
	{
		Name: "GitHub installation token", Literals: []string{"ghs_"},
		Source:     "https://github.blog/changelog/2026-04-24-notice-about-upcoming-new-format-for-github-app-installation-tokens/",
		expression: token(`ghs_[A-Za-z0-9]+_eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}`), check: varied,
	},
	{
		Name: "GitHub fine-grained token", Literals: []string{"github_pat_"},
		Source:     "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github",
		expression: token(`github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59,}`), check: mixed,
	},
	{
		Name: "GitLab token",
		Literals: []string{"glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glwt-", "gloas-", "glsoat-",
			"glffct-", "GR1348941"},
		Source: "https://docs.gitlab.com/security/tokens/#token-prefixes",
		expression: token(`gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|wt|oas|soat|ffct)-[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}){0,2}(?:\.?[0-9a-z]{7})?` +
			`|GR1348941[A-Za-z0-9_-]{20,}`), check: mixed,
	},
	{
		Name: "Slack token", Literals: []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxo-", "xoxe-", "xoxe.", "xapp-"},
		Source: "https://docs.slack.dev/authentication/tokens",
		expression: token(`xox[abcoprs]-(?:[0-9]+-)+[A-Za-z0-9]{20,}|xoxd-[A-Za-z0-9%/+]{40,}=*` +
			`|xoxe(?:\.xox[bp])?-[0-9]-[A-Za-z0-9]{40,}|xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]{32,}`), check: varied,
	},
	{
		Name: "Slack webhook", Literals: []string{"hooks.slack.com"},
		Source:     "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks",
		expression: token(`hooks\.slack\.com\\*/(?:services|workflows|triggers)\\*/[A-Z0-9]{8,}\\*/[A-Z0-9]{8,}\\*/[A-Za-z0-9/]{20,}`), check: mixed,
	},
	{
		Name: "Stripe live key", Literals: []string{"sk_live_", "rk_live_"},
		Source:     "https://docs.stripe.com/keys",
		expression: token(`[sr]k_live_[A-Za-z0-9]{20,}`), check: mixed, alone: true,
	},
	{
		Name: "Google API key", Literals: []string{"AIza"},
		Source:     "https://cloud.google.com/docs/authentication/api-keys",
		expression: expression.Of(`(AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)`), check: mixed, alone: true,
	},
	{
		Name: "Google OAuth client secret", Literals: []string{"GOCSPX-"},
		Source:     "https://developers.google.com/identity/protocols/oauth2/web-server",
		expression: token(`GOCSPX-[A-Za-z0-9_-]{28}`), check: mixed,
	},
	{
		Name: "npm token", Literals: []string{"npm_"},
		Source:     "https://github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format/",
		expression: token(`npm_[A-Za-z0-9]{36,}`), check: isToken,
	},
	{
		// A macaroon in base64: version, then the location pypi.org or test.pypi.org.
		Name: "PyPI token", Literals: []string{"pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"},
		Source:     "https://pypi.org/help/#apitoken",
		expression: token(`pypi-(?:AgEIcHlwaS5vcmc|AgENdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{50,}`), check: mixed,
	},
	{
		Name: "Anthropic key", Literals: []string{"sk-ant-"},
		Source:     "https://docs.anthropic.com/en/api/admin-api/apikeys/get-api-key",
		expression: token(`sk-ant-[a-z]+[0-9]{2}-[A-Za-z0-9_-]{40,}`), check: mixed,
	},
	{
		Name: "OpenAI key", Literals: []string{"sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "T3BlbkFJ"},
		Source:     "https://platform.openai.com/docs/api-reference/authentication",
		expression: token(`sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,}|sk-[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16,}`), check: mixed, alone: true,
	},
	{
		Name: "SendGrid key", Literals: []string{"SG."},
		Source:     "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
		expression: expression.Of(`(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})(?:[^A-Za-z0-9_-]|$)`), check: mixed, alone: true,
	},
	{
		Name: "Twilio API key", Literals: []string{"SK"},
		Source:     "https://www.twilio.com/docs/iam/api-keys",
		expression: ended(`SK[0-9a-f]{32}(?::[A-Za-z0-9]{32})?`), check: varied, alone: true,
	},
	{
		Name: "Twilio auth token", Literals: []string{"AC"},
		Source:     "https://www.twilio.com/docs/usage/requests-to-twilio",
		expression: ended(`AC[0-9a-f]{32}:[0-9a-f]{32}`), check: varied, alone: true,
	},
	{
		Name: "Twilio auth token", lines: true, Literals: []string{"TWILIO_AUTH_TOKEN", "twilio_auth_token", "twilioAuthToken"},
		Source:     "https://www.twilio.com/docs/iam/access-tokens",
		expression: assigned(`(?i:twilio_?auth_?token)`, `[0-9a-f]{32}`), check: varied,
	},
	{
		Name: "Azure account key", lines: true, Literals: []string{"AccountKey", "accountKey", "SharedAccessKey", "sharedAccessKey"},
		Source:     "https://learn.microsoft.com/en-us/azure/storage/common/storage-configure-connection-string",
		expression: assigned(`(?i:AccountKey|SharedAccessKey)`, `[A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{43}=`), check: mixed,
	},
	{
		Name: "Azure client secret", Literals: []string{"7Q~", "8Q~"},
		Source:     "https://learn.microsoft.com/en-us/purview/sit-defn-azure-ad-client-secret",
		expression: expression.Of(`([A-Za-z0-9_.~-]{3}[78]Q~[A-Za-z0-9_.~-]{31,})`), check: mixed,
	},
	{
		Name: "Azure shared access signature", Literals: []string{"sig="}, also: "sv=",
		Source:     "https://learn.microsoft.com/en-us/rest/api/storageservices/create-service-sas",
		expression: expression.Of(`[?&;]sig=((?:[A-Za-z0-9+/]|%2[BbFf]){43}(?:=|%3[Dd]))`), check: mixed,
	},
	{
		Name: "private key", lines: true, Literals: []string{"PRIVATE KEY-----", "PRIVATE KEY BLOCK-----", "PRIVATE KEY ----", "Private-Lines:"},
		Source:     "https://www.rfc-editor.org/rfc/rfc7468#section-10",
		expression: expression.Of(`(?:` + keyLine("BEGIN") + `|Private-Lines: [0-9]{1,4})(` + wholeKey + `|` + cutKey + `)(?:\.\.\.|…)?`), check: keyBody,
	},
	{
		Name: "JSON web token", Literals: []string{"eyJ"},
		Source:     "https://www.rfc-editor.org/rfc/rfc7519#section-3",
		expression: token(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}`), check: webToken,
	},
	{
		Name: "password in a URL", Literals: []string{"://", `:\/`, `:\\/`, `:\\\`, "https:/", "http:/"}, also: "@",
		Source:     "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1",
		expression: expression.Of(`(?:[A-Za-z][A-Za-z0-9+.-]{1,30}:\\*/\\*/|https?:/)[^\s/?#:'"<>` + "`" + `\\]*:([^\s/?#'"<>` + "`" + `\\]{6,200})@[^\s/?#@'"<>` + "`" + `\\,;|)]+`), check: urlPassword,
	},
}

// keyLine returns the expression for the first or the last line of a private key: RFC 7468, RFC 9580, or, with spaces, RFC 4716.
func keyLine(word string) string {
	return `-{4,5} ?` + word + ` (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}`
}

// wholeKey matches what follows the first line of a key up to its last line, but not another key's first line. cutKey matches what follows if there
// is no last line: headers as in RFC 1421, then lines of base64, with few other characters between.
var (
	wholeKey = `(?:-{0,3}[^-])*?` + keyLine("END")
	cutKey   = lineBreak + `*(?:[A-Z][A-Za-z-]+:[^\n\\]{0,100}` + lineBreak + `){0,5}(?:[^A-Za-z0-9+/]{0,20}[A-Za-z0-9+/]{16,}={0,2})+(?:` +
		lineBreak + `+[A-Za-z0-9+/]+={0,2})?`
)

// lineBreak is white space in a key, escaped or not.
const lineBreak = `(?:\s|\\+[nrt])`
