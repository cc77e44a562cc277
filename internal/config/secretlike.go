package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// template is what other programs would expand: $NAME, ${NAME}, %NAME%, {env:NAME}, {input:NAME}.
var templates = lazy(`\$\{|\$[A-Za-z_]|%[A-Za-z_][A-Za-z0-9_]*%|\{(env|input|file):`)

func hasTemplate(s string) bool { return strings.ContainsAny(s, "$%{") && templates.MatchString(s) }

// issuer is how one issuer's secrets begin, and the regular expression of what must follow.
type issuer struct{ start, rest string }

var issuers = []issuer{
	{"sk_", `(?:live|test)_\w{8}`},
	{"rk_", `(?:live|test)_\w{8}`},
	{"sk-", `[\w-]*\d[\w-]*`},
	{"ghp_", `\w{8}`},
	{"gho_", `\w{8}`},
	{"ghu_", `\w{8}`},
	{"ghs_", `\w{8}`},
	{"ghr_", `\w{8}`},
	{"github_pat_", `\w{8}`},
	{"glpat-", `[\w-]{8}`},
	{"xox", `[a-z]-[\w-]{4}`},
	{"xapp-", `[\w-]{8}`},
	{"AKIA", `[0-9A-Z]{16}`},
	{"AIza", `[\w-]{30}`},
	{"ya29.", `[\w-]{8}`},
	{"npm_", `\w{20}`},
	{"hf_", `\w{20}`},
	{"pypi-", `\w{16}`},
	{"dop_v1_", `\w{8}`},
	{"shpat_", `\w{8}`},
	{"lin_api_", `\w{8}`},
	{"ntn_", `\w{16}`},
	{"SG.", `[\w-]{16}`},
	{"eyJ", `[\w-]+\.[\w-]+\.`},
	{"-----BEGIN ", `[A-Z ]*PRIVATE KEY`},
}

// issued are those spellings, at the start of a word.
var issued = lazy(func() string {
	spellings := make([]string, len(issuers))
	for i, one := range issuers {
		spellings[i] = regexp.QuoteMeta(one.start) + one.rest
	}
	return startOfWord + `(?:` + strings.Join(spellings, "|") + `)`
}())

// credentials are the two schemes of the Authorization header with what they carry.
var credentials = lazy(startOfWord + `(?i:bearer|basic) +[\w.~+/=-]{8}`)

const startOfWord = `(?:^|[^A-Za-z0-9_-])`

// userinfo is a URL that carries a password, as connection strings do.
var userinfo = lazy(`://[^/@\s:]*:[^/@\s]+@`)

// looksSecret reports whether a text holds a secret by its own spelling. It misses a secret that looks like any word:
// what it finds is refused, what it does not find is not thereby innocent. The plain searches keep most runs from
// compiling a pattern that cannot fit.
func looksSecret(s string) bool {
	begins := func(i issuer) bool { return strings.Contains(s, i.start) }
	return slices.ContainsFunc(issuers, begins) && issued.MatchString(s) ||
		strings.Contains(s, " ") && credentials.MatchString(s) ||
		strings.Contains(s, "@") && userinfo.MatchString(s)
}

var secretWords = []string{
	"token", "api-key", "apikey", "access-key", "secret-key", "private-key", "secret", "password", "passwd", "bearer",
	"authorization", "credential", "credentials", "pat", "auth-key", "subscription-key", "passphrase", "pwd", "jwt",
}

// namesSecret reports whether a flag, a variable or a query parameter of that name takes a secret. The name of a file
// or of a variable that holds one is not meant: "--token-file" takes a path.
func namesSecret(name string) bool {
	name = strings.ToLower(strings.Trim(strings.NewReplacer("_", "-", ".", "-").Replace(name), "-"))
	for _, w := range secretWords {
		if name == w || strings.HasSuffix(name, "-"+w) || strings.HasSuffix(name, w) && len(w) > 3 {
			return true
		}
	}
	return false
}

// secretInCommand returns the index of the first argument that holds a secret by where it stands, and -1 when none
// does. What is one by its spelling is found when the argument is read.
func secretInCommand(argv []string) int {
	for i, arg := range argv {
		switch {
		case assignsSecret(arg), secretHeader(arg), secretInLine(arg):
			return i
		case i == 0 || i+1 == len(argv) || strings.HasPrefix(argv[i+1], "-") || argv[i+1] == "":
			continue
		case takesSecret(arg, argv[i+1]):
			return i + 1
		}
	}
	return -1
}

// assignsSecret reports whether an argument is NAME=VALUE, be it a flag or a variable, whose value is a secret.
func assignsSecret(arg string) bool {
	name, value, ok := strings.Cut(arg, "=")
	return ok && value != "" && namesSecret(name) || assignsHeader(arg)
}

func assignsHeader(arg string) bool {
	name, value, _ := strings.Cut(arg, "=")
	return headerFlags[name] && headerLine(value)
}

// takesSecret reports whether an argument is a flag and the one after it a secret.
func takesSecret(flag, value string) bool {
	return strings.HasPrefix(flag, "-") && namesSecret(flag) || headerFlags[flag] && headerLine(value)
}

// headerFlags are the flags of header lines. What one carries is rarely public, so all of them count.
var headerFlags = map[string]bool{"--header": true, "--headers": true, "-H": true}

// headerLine tells a header line from HOST:PORT and from a URL, which -H has in some programs.
func headerLine(s string) bool {
	name, value, ok := strings.Cut(s, ":")
	return ok && headerToken.MatchString(strings.TrimSpace(name)) && !strings.HasPrefix(value, "//") &&
		strings.Trim(value, "0123456789") != ""
}

// secretInLine looks into an argument that is a command line itself, as of sh -c.
func secretInLine(arg string) bool {
	words := strings.Fields(arg)
	return len(words) > 1 && secretInCommand(append([]string{""}, words...)) >= 0
}

// secretArguments returns the indexes of the arguments that hold a secret, and of the flags that they belong to. The
// program is none, and neither is a line of several words with a secret somewhere in it: without that the command would
// be another one.
func secretArguments(argv []string) (indexes []int) {
	out := make([]bool, len(argv))
	for i := 1; i < len(argv); i++ {
		before, arg := argv[i-1], argv[i]
		switch {
		case i > 1 && takesSecret(before, arg) && arg != "" && !strings.HasPrefix(arg, "-"):
			out[i-1], out[i] = true, true
		case strings.ContainsAny(arg, " \t\r\n") && !secretHeader(arg) && !assignsHeader(arg):
		case assignsSecret(arg), secretHeader(arg), looksSecret(arg):
			out[i-1] = out[i-1] || i > 1 && variableFlags[before]
			out[i] = true
		}
	}
	for i := range out {
		if out[i] {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// variableFlags are the flags before NAME=VALUE in the command lines of container programs.
var variableFlags = map[string]bool{"-e": true, "--env": true}

// secretHeader reports whether an argument is a header line that carries a secret.
func secretHeader(arg string) bool {
	_, arg, _ = cutLast(arg, "=")
	name, rest, ok := strings.Cut(arg, ":")
	return ok && strings.TrimSpace(rest) != "" && !strings.HasPrefix(rest, "//") &&
		(namesSecret(name) || strings.EqualFold(name, "cookie"))
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// secretParameters are names that mean a secret in a query, and many other things elsewhere.
var secretParameters = map[string]bool{"key": true, "code": true, "sig": true, "signature": true, "auth": true}

// secretInQuery reports whether a URL carries a secret in a query parameter.
func secretInQuery(u *url.URL) bool {
	for name, values := range u.Query() {
		if (namesSecret(name) || secretParameters[strings.ToLower(name)]) && strings.Join(values, "") != "" {
			return true
		}
	}
	return false
}
