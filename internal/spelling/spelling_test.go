package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"send_email", "get-sum", "ab", "数据库"}
	long := strings.Repeat("x", 65)
	for name, want := range map[string]string{
		"Send.Email": "send_email", "send_emаil": "send_email", "get-sums": "get-sum", "getsum": "get-sum",
		"cd": "", "delete": "", "": "", "数据": "数据库", long: "",
	} {
		if got := Nearest(name, append(names, long+"y")); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"": false, "a": true, "list_issues.v2-x": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false,
		"a b": false, "é": false, "a\x1b": false, "a\n": false, "а": false, "a/b": false,
	} {
		if Plain(name) != want {
			t.Errorf("%q: not %v", name, want)
		}
	}
}
