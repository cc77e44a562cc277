package config

import (
	"testing"

	"mcpc/internal/refusal"
)

func TestServer(t *testing.T) {
	t.Parallel()
	docs := &Server{Name: "docs"}
	c := &Config{Path: "c.json", Servers: map[string]*Server{"docs": docs, "everything": {}}}
	if s, err := c.Server("docs"); err != nil || s != docs {
		t.Fatal(s, err)
	}
	for name, near := range map[string]any{
		"Docs": "docs", "doc": "docs", "docss": "docs", "dosc": "docs", "dcs": "docs", "dxcs": "docs", "every": "everything",
		"x": nil, "": nil, "d": nil,
	} {
		_, err := c.Server(name)
		if r, ok := refusal.As(err); !ok || r.Name() != "config.no_such_server" || r.Detail("near") != near {
			t.Errorf("%q: got %v", name, err)
		}
	}
}
