package config

import (
	"strings"
	"testing"

	"mcpc/internal/refusal"
	"mcpc/internal/vectors"
)

func readVectors(t testing.TB) []vectors.Vector {
	t.Helper()
	return vectors.Read(t, "config", 146, "refusal", "pointer", "source")
}

func TestVectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			c, err := Parse(v.Data, "/etc/mcpc/config.json")
			if v.Header["expect"] == "accept" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			r, ok := refusal.As(err)
			switch {
			case !ok || c != nil:
				t.Fatalf("got %v, %v; want %s", c, err, v.Header["refusal"])
			case r.Name() != v.Header["refusal"]:
				t.Fatalf("got %v, want %s", r, v.Header["refusal"])
			}
			if want, ok := v.Header["pointer"]; ok && r.Detail("pointer") != want {
				t.Fatalf("got pointer %q, want %q", r.Detail("pointer"), want)
			}
			if strings.Contains(r.Error()+r.HintText(), "(unknown)") {
				t.Fatalf("a detail is missing: %v", r)
			}
		})
	}
}
