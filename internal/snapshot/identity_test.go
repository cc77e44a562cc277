package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

func TestNormalURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://h/mcp":                 "https://h/mcp",
		"HTTPS://H.Example/Mcp":         "https://h.example/Mcp",
		"https://h":                     "https://h/",
		"https://h/":                    "https://h/",
		"https://h?x=1":                 "https://h/?x=1",
		"https://h:443/a":               "https://h/a",
		"https://h:/a":                  "https://h/a",
		"https://h:80/a":                "https://h:80/a",
		"https://h:8443":                "https://h:8443/",
		"http://127.0.0.1:80/a":         "http://127.0.0.1/a",
		"http://[::1]:443/a":            "http://[::1]:443/a",
		"https://[2001:DB8::A]:443/a":   "https://[2001:db8::a]/a",
		"https://h/a/../b//c/?Q=%2f&r#": "",
		"https://h/a/../b//c/?Q=%2f&r":  "https://h/a/../b//c/?Q=%2f&r",
		"https://h/%7Ea":                "https://h/%7Ea",
		"https://h/a?u=http://X:443/":   "https://h/a?u=http://X:443/",
		"https://user@h/":               "",
		"https://h/#f":                  "",
		"https://":                      "",
		"https://:443/":                 "",
		"https:h/a":                     "",
		"/a":                            "",
		"":                              "",
		"ftp://h/":                      "",
		"https://h/\x00":                "",
		"https://h/\xff":                "",
		"https://h:port/":               "",
	} {
		got, ok := NormalURL(in)
		if got != want || ok != (want != "") {
			t.Errorf("NormalURL(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
}

func TestNormalURLIsNormal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`[hH][tT]{2}ps?://[a-zA-Z.\[\]:]{1,9}(:(80|443|)?)?[/?a-zA-Z:%@]{0,9}`).Draw(t, "url")
		once, ok := NormalURL(in)
		if !ok {
			return
		}
		if twice, ok := NormalURL(once); !ok || twice != once {
			t.Fatalf("%q, then %q", once, twice)
		}
	})
}

func TestIdentityOf(t *testing.T) {
	t.Parallel()
	stdio := func(cwd string, argv ...string) *config.Server {
		return &config.Server{Name: "alias", Stdio: &config.Stdio{Command: argv, Cwd: cwd}}
	}
	overURL := func(url string) *config.Server { return &config.Server{Name: "alias", HTTP: &config.HTTP{URL: url}} }
	for _, tt := range []struct {
		name   string
		server *config.Server
		want   Identity
		json   string
		refuse *refusal.Entry
	}{
		{"url", overURL("HTTPS://H:443/a"), Identity{HTTP: "https://h/a"}, `{"http":"https://h/a"}`, nil},
		{"argv", stdio("", "npx", "-y", `a"b`), Identity{Stdio: []string{"npx", "-y", `a"b`}}, `{"stdio":["npx","-y","a\"b"]}`, nil},
		{"argv and cwd", stdio("/srv", "x"), Identity{Stdio: []string{"x"}, Cwd: "/srv"}, `{"stdio":["x"],"cwd":"/srv"}`, nil},
		{"no url", overURL("x"), Identity{}, "", refusal.ConfigURL},
		{"argument not UTF-8", stdio("", "x", "\xff"), Identity{}, "", refusal.ConfigValue},
		{"folder not UTF-8", stdio("\xff", "x"), Identity{}, "", refusal.ConfigValue},
		{"no command", stdio(""), Identity{}, "", refusal.ConfigValue},
		{"nothing", &config.Server{}, Identity{}, "", refusal.ConfigValue},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := IdentityOf(tt.server)
			if tt.refuse != nil {
				wantRefusal(t, err, tt.refuse)
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Fatal(diff, err)
			}
			text := got.AppendJSON(nil)
			if string(text) != tt.json || strictjson.Validate(text, 9) != nil {
				t.Fatalf("%s", text)
			}
			if back, ok := ParseIdentity(text); !ok || !back.Equal(got) {
				t.Fatalf("%+v", back)
			}
		})
	}
}

func TestIdentityEqual(t *testing.T) {
	t.Parallel()
	all := []Identity{
		{},
		{HTTP: "https://h/"},
		{HTTP: "https://h/a"},
		{Stdio: []string{"a", "b"}},
		{Stdio: []string{"a b"}},
		{Stdio: []string{"a", "b"}, Cwd: "/"},
		{Stdio: []string{"b", "a"}},
	}
	for i, a := range all {
		for j, b := range all {
			if a.Equal(b) != (i == j) {
				t.Errorf("%+v and %+v", a, b)
			}
		}
	}
}

func TestParseIdentityRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `{}`, `[]`, `"https://h/"`, `{"http":1}`, `{"http":"x"}`, `{"http":"https://h/","cwd":"/"}`,
		`{"http":"https://h/","stdio":["a"]}`, `{"stdio":[]}`, `{"stdio":"a"}`, `{"stdio":[1]}`,
		`{"stdio":["a"],"cwd":""}`, `{"cwd":"/"}`, `{"http":"https://h/","alias":"x"}`,
	} {
		if got, ok := ParseIdentity([]byte(text)); ok {
			t.Errorf("%s gives %+v", text, got)
		}
	}
}
