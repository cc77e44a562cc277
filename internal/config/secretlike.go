package config

import (
	"net/url"
	"regexp"
	"strings"
)

// template is what other programs would expand: $NAME, ${NAME}, %NAME%, {env:NAME}, {input:NAME}.
var templates = regexp.MustCompile(`\$\{|\$[A-Za-z_]|%[A-Za-z_][A-Za-z0-9_]*%|\{(env|input|file):`)

func hasTemplate(s string) bool { return templates.MatchString(s) }

// issued are spellings that only a secret has, by the prefixes that well-known issuers give. They are looked for at the
// start of a word.
var issued = regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])(?:` + strings.Join([]string{
	`(?:sk|rk)_(?:live|test)_\w{8}`, `sk-[\w-]*\d[\w-]*`, `gh[pousr]_\w{8}`, `github_pat_\w{8}`, `glpat-[\w-]{8}`,
	`xox[a-z]-[\w-]{4}`, `xapp-[\w-]{8}`, `AKIA[0-9A-Z]{16}`, `AIza[\w-]{30}`, `ya29\.[\w-]{8}`, `npm_\w{20}`, `hf_\w{20}`,
	`pypi-\w{16}`, `dop_v1_\w{8}`, `shpat_\w{8}`, `lin_api_\w{8}`, `ntn_\w{16}`, `SG\.[\w-]{16}`,
	`eyJ[\w-]+\.[\w-]+\.`, `-----BEGIN [A-Z ]*PRIVATE KEY`, `(?i:bearer|basic) +[\w.~+/=-]{8}`,
}, "|") + `)`)

// userinfo is a URL that carries a password, as connection strings do.
var userinfo = regexp.MustCompile(`://[^/@\s:]*:[^/@\s]+@`)

// looksSecret reports whether a text holds a secret by its own spelling. It misses a secret that looks like any word:
// what it finds is refused, what it does not find is not thereby innocent.
func looksSecret(s string) bool { return issued.MatchString(s) || userinfo.MatchString(s) }

var secretWords = []string{
	"token", "api-key", "apikey", "access-key", "secret-key", "private-key", "secret", "password", "passwd", "bearer",
	"authorization", "credential", "credentials", "pat", "auth-key", "subscription-key",
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
		name, assigned, hasValue := strings.Cut(arg, "=")
		switch {
		case hasValue && assigned != "" && namesSecret(name), secretHeader(arg):
			return i
		case i == 0 || i+1 == len(argv) || strings.HasPrefix(argv[i+1], "-") || argv[i+1] == "":
			continue
		case strings.HasPrefix(arg, "-") && namesSecret(arg):
			return i + 1
		case arg == "--header" && strings.Contains(argv[i+1], ":"):
			return i + 1
		}
	}
	return -1
}

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

// secretInQuery reports whether a URL carries a secret in a query parameter.
func secretInQuery(u *url.URL) bool {
	for name, values := range u.Query() {
		if namesSecret(name) && strings.Join(values, "") != "" {
			return true
		}
	}
	return false
}
