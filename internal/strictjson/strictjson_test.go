package strictjson

import (
	"errors"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	deep := strings.Repeat("[", 128) + strings.Repeat("]", 128)
	tests := []struct {
		name, text string
		want       Fault
	}{
		{"object", `{"a":1}`, ""},
		{"white space around", " \r\n{}\n", ""},
		{"scalar", `"x"`, ""},
		{"depth at the bound", deep, ""},
		{"bracket in a string", `{"a":"` + strings.Repeat("[", 200) + `\"{"}`, ""},
		{"big number", `1E400`, ""},
		{"depth over the bound", "[" + deep + "]", FaultDepth},
		{"empty", "", FaultEmpty},
		{"blank", " \n", FaultEmpty},
		{"bom", "\xEF\xBB\xBF{}", FaultBOM},
		{"utf-16", "\xFF\xFE{\x00}\x00", FaultUTF16},
		{"duplicate", `{"a":1,"a":2}`, FaultDuplicate},
		{"duplicate after unescaping", `{"a":1,"\u0061":2}`, FaultDuplicate},
		{"duplicate deep down", `{"x":[{"b":{"a":1,"a":2}}]}`, FaultDuplicate},
		{"case differs", `{"a":1,"A":2}`, ""},
		{"invalid utf-8", "{\"a\":\"\xff\"}", FaultUTF8},
		{"lone surrogate", `{"a":"\ud800"}`, FaultSyntax},
		{"surrogate pair", `{"a":"\ud83d\ude00"}`, ""},
		{"trailing", `{} {}`, FaultTrailing},
		{"trailing garbage", `{}x`, FaultTrailing},
		{"trailing comma", `{"a":1,}`, FaultSyntax},
		{"comment", `{/*c*/}`, FaultSyntax},
		{"NaN", `NaN`, FaultSyntax},
		{"leading zero", `01`, FaultTrailing},
		{"raw control", "\"a\nb\"", FaultSyntax},
		{"cut off", `{"a":`, FaultSyntax},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Validate([]byte(tt.text), MaxDepth)
			var e *Error
			switch {
			case tt.want == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case tt.want != "" && !errors.As(err, &e):
				t.Fatalf("got %v, want %s", err, tt.want)
			case tt.want != "" && e.Fault != tt.want:
				t.Fatalf("got %s, want %s", e.Fault, tt.want)
			}
		})
	}
}

func TestCanonicalKeepsNumberSpelling(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1.0, "a":[9007199254740993, 1E400, -0]}`: `{"a":[9007199254740993,1E400,-0],"b":1.0}`,
		`"\u00e9\/\u0001"`:                `"é/\u0001"`,
		"{\"\uFB33\":1,\"\U0001F600\":2}": "{\"\U0001F600\":2,\"\uFB33\":1}", // UTF-16 order: the surrogate pair first
	} {
		got, err := Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("Canonical(%s) = %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestCanonicalLeavesTheInput(t *testing.T) {
	in := []byte(`{"b":1,"a":2}`)
	if _, err := Canonical(in); err != nil || string(in) != `{"b":1,"a":2}` {
		t.Fatalf("input became %s (%v)", in, err)
	}
}

func TestMembersAndElementsAreSlicesOfTheInput(t *testing.T) {
	obj := []byte(" {\"a\" : 1.0 ,\"\\u0062\":[ 1, {\"x\":2} ,null],\"c\":{} }\n")
	var got []string
	for n, v := range Members(obj) {
		got = append(got, n+"="+string(v))
	}
	want := []string{"a=1.0", `b=[ 1, {"x":2} ,null]`, "c={}"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Fatalf("got %q", got)
	}
	arr, ok := Member(obj, "b")
	if !ok {
		t.Fatal("no b")
	}
	got = nil
	for _, v := range Elements(arr) {
		got = append(got, string(v))
	}
	if strings.Join(got, "|") != `1|{"x":2}|null` {
		t.Fatalf("got %q", got)
	}
}

func TestParseDigest(t *testing.T) {
	full := string(Sum(nil))
	if d, ok := ParseDigest(full); !ok || len(d.Short()) != 12 {
		t.Fatal(full)
	}
	for _, bad := range []string{"", "sha256:", full[:len(full)-1], strings.ToUpper(full), "sha512:" + full[7:], full + "0"} {
		if _, ok := ParseDigest(bad); ok {
			t.Errorf("%q is no digest", bad)
		}
	}
}
