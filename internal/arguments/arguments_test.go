package arguments

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// files is a Sources of fixed contents; stdin is the file "-".
type files map[string]string

func (f files) File(path string) ([]byte, error) {
	text, ok := f[path]
	if !ok {
		return nil, errors.New("no such file")
	}
	return []byte(text), nil
}

func (f files) Stdin() ([]byte, error) { return f.File("-") }

func toolOf(inputSchema string) *snapshot.Tool {
	return &snapshot.Tool{Name: "t", Descriptor: []byte(fmt.Sprintf(`{"name":"t","inputSchema":%s}`, inputSchema))}
}

const limit = 1 << 20

// everyType declares one argument of each kind of declaration.
var everyType = toolOf(`{"type":"object","properties":{
	"s":{"type":"string"},"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"},"z":{"type":"null"},
	"l":{"type":"array"},"o":{"type":"object"},"sn":{"type":["string","null"]},"in":{"type":["null","integer"]},
	"two":{"type":["string","integer"]},"any":{},"yes":true,
	"opt":{"anyOf":[{"type":"integer"},{"type":"null"}]},"mix":{"anyOf":[{"type":"integer"},{"type":"string"}]},
	"num":{"anyOf":[{"type":"integer"},{"type":"number"}]},
	"ref":{"$ref":"#/$defs/flag"},"loop":{"$ref":"#/$defs/loop"},
	"c":{"const":7},"e":{"enum":["1","2"]},"em":{"enum":["1",2]},"all":{"allOf":[{"title":"x"},{"type":"boolean"}]}
	},"$defs":{"flag":{"type":"boolean"},"loop":{"type":"string","$ref":"#/$defs/loop"}}}`)

func TestWordsAreTypedByTheSchema(t *testing.T) {
	t.Parallel()
	src := files{"text": "two\nlines\n", "seven": "7\n", "doc": " {\"x\": 1.0}\n"}
	for words, want := range map[string]string{
		``:                               `{}`,
		`s=00123`:                        `{"s":"00123"}`,
		`s=true`:                         `{"s":"true"}`,
		`s=`:                             `{"s":""}`,
		`s=a=b`:                          `{"s":"a=b"}`,
		`s==b`:                           `{"s":"=b"}`,
		`s="x"`:                          `{"s":"\"x\""}`,
		`s= x `:                          `{"s":" x "}`,
		`s=1700000000.000100`:            `{"s":"1700000000.000100"}`,
		`i=9007199254740993`:             `{"i":9007199254740993}`,
		`i=-7108510333361982070`:         `{"i":-7108510333361982070}`,
		`i=1e2`:                          `{"i":1e2}`,
		`i=1.0`:                          `{"i":1.0}`,
		`n=1.10`:                         `{"n":1.10}`,
		`n=-0`:                           `{"n":-0}`,
		`n=1E400`:                        `{"n":1E400}`,
		`b=true`:                         `{"b":true}`,
		`z=null`:                         `{"z":null}`,
		`l=[1, "a"]`:                     `{"l":[1, "a"]}`,
		`o={"a": {"b":"x # y"}}`:         `{"o":{"a": {"b":"x # y"}}}`,
		`sn=null`:                        `{"sn":"null"}`,
		`sn:=null`:                       `{"sn":null}`,
		`in=null`:                        `{"in":null}`,
		`in=5`:                           `{"in":5}`,
		`two=5`:                          `{"two":"5"}`,
		`any=5`:                          `{"any":"5"}`,
		`any:=5`:                         `{"any":5}`,
		`yes=true`:                       `{"yes":"true"}`,
		`opt=5`:                          `{"opt":5}`,
		`opt=null`:                       `{"opt":null}`,
		`mix=5`:                          `{"mix":"5"}`,
		`num=5`:                          `{"num":5}`,
		`ref=true`:                       `{"ref":true}`,
		`c=7`:                            `{"c":7}`,
		`e=2`:                            `{"e":"2"}`,
		`all=false`:                      `{"all":false}`,
		`s:="@x"`:                        `{"s":"@x"}`,
		`s=@text`:                        `{"s":"two\nlines\n"}`,
		`i=@seven`:                       `{"i":7}`,
		`o:=@doc`:                        `{"o":{"x": 1.0}}`,
		`o=@doc`:                         `{"o":{"x": 1.0}}`,
		`s=b|i=1|any:=[null]|b=false`:    `{"s":"b","i":1,"any":[null],"b":false}`,
		"s=\u2028\u00e9\U0001f600\x01":   "{\"s\":\"\u2028\u00e9\U0001f600\\u0001\"}",
		`any:= {"__proto__": 1} `:        `{"any":{"__proto__": 1}}`,
		`n=12345678901234567890123456.5`: `{"n":12345678901234567890123456.5}`,
	} {
		var list []string
		if words != "" {
			list = strings.Split(words, "|")
		}
		got, _, err := Parse(everyType, list, nil, src, limit)
		if err != nil || string(got) != want {
			t.Errorf("%q: got %s, %v; want %s", words, got, err, want)
		}
	}
}

func TestWordsAreRefused(t *testing.T) {
	t.Parallel()
	src := files{"bytes": "\xff", "empty": ""}
	for words, want := range map[string]string{
		`s`:                  "arguments.syntax",
		`=x`:                 "arguments.syntax",
		`:=1`:                "arguments.syntax",
		`s=@`:                "arguments.syntax",
		"s=\xff":             "arguments.syntax",
		`s=@bytes`:           "arguments.syntax",
		`s=@none`:            "arguments.file",
		`any:=@empty`:        "arguments.syntax",
		`any:=`:              "arguments.syntax",
		`any:={"a":1,"a":2}`: "arguments.syntax",
		`any:=1 2`:           "arguments.syntax",
		`any:=NaN`:           "arguments.syntax",
		`any:=01`:            "arguments.syntax",
		`s=1|s=2`:            "arguments.duplicate",
		`any:=1|any=2`:       "arguments.duplicate",
		`S=1`:                "arguments.unknown",
		`o.a=1`:              "arguments.unknown",
		`i=x`:                "arguments.type",
		`i=`:                 "arguments.type",
		`i=1.5`:              "arguments.type",
		`i=01`:               "arguments.type",
		`i=+1`:               "arguments.type",
		`i=0x10`:             "arguments.type",
		`i=1_000`:            "arguments.type",
		`n=.5`:               "arguments.type",
		`n=Infinity`:         "arguments.type",
		`b=yes`:              "arguments.type",
		`b=True`:             "arguments.type",
		`z=`:                 "arguments.type",
		`l={}`:               "arguments.type",
		`l=a,b`:              "arguments.type",
		`o=[]`:               "arguments.type",
		`o={"a":1,"a":2}`:    "arguments.type",
		`opt=x`:              "arguments.type",
		`s:=1`:               "arguments.schema",
		`e=3`:                "arguments.schema",
	} {
		got, _, err := Parse(everyType, strings.Split(words, "|"), nil, src, limit)
		if r := refusal.From(err); got != nil || r == nil || r.Name() != want {
			t.Errorf("%q: got %s, %v; want %s", words, got, err, want)
		}
	}
}

func TestWholeIsPassedThrough(t *testing.T) {
	t.Parallel()
	tool := toolOf(`{"type":"object"}`)
	const object = `{"data":{"a":"x # y"} , "zip":"00123","n":12345678901234567890,"b":"true","e":1E400}`
	src := files{"args.json": "\n" + object + "\r\n", "-": object}
	for _, value := range []string{object, "@args.json", "-", " \t" + object} {
		got, _, err := Parse(tool, nil, &value, src, limit)
		if err != nil || string(got) != object {
			t.Errorf("%q: got %s, %v", value, got, err)
		}
	}
}

func TestWholeIsRefused(t *testing.T) {
	t.Parallel()
	src := files{"bom": "\xef\xbb\xbf{}", "big": `{"s":"` + strings.Repeat("x", 100) + `"}`}
	for value, want := range map[string]string{
		``: "arguments.json", `[]`: "arguments.json", `"{}"`: "arguments.json", `{"s":1,"s":2}`: "arguments.json",
		`{} {}`: "arguments.json", `{"s":"x",}`: "arguments.json", `@bom`: "arguments.json", `@none`: "arguments.file",
		`-`: "arguments.file", `@big`: "limit.arguments", `{"other":1}`: "arguments.unknown", `{"i":"1"}`: "arguments.schema",
		`{"any":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`: "limit.arguments",
	} {
		got, _, err := Parse(everyType, nil, &value, src, 100)
		if r := refusal.From(err); got != nil || r == nil || r.Name() != want {
			t.Errorf("%q: got %s, %v; want %s", value, got, err, want)
		}
	}
	object := `{}`
	if _, _, err := Parse(everyType, []string{"s=1"}, &object, src, limit); !refusal.Is(err, refusal.ArgumentsSyntax) {
		t.Errorf("words and --args: %v", err)
	}
	deep := `{"any":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`
	_, _, err := Parse(everyType, nil, &deep, src, limit)
	if r := refusal.From(err); r == nil || r.Detail("fault") != string(strictjson.FaultDepth) {
		t.Errorf("too deep: %v", err)
	}
}

func TestSizeIsBounded(t *testing.T) {
	t.Parallel()
	tool := toolOf(`{"type":"object"}`)
	words := []string{"a=" + strings.Repeat("x", 92)} // {"a":"…"} is 100 bytes
	if got, _, err := Parse(tool, words, nil, files{}, 100); err != nil || len(got) != 100 {
		t.Errorf("at the bound: %d bytes, %v", len(got), err)
	}
	for what, parse := range map[string]func() error{
		"words": func() error { _, _, err := Parse(tool, words, nil, files{}, 99); return err },
		"file": func() error {
			_, _, err := Parse(tool, []string{"a=@f"}, nil, files{"f": strings.Repeat("x", 101)}, 100)
			return err
		},
		"white space": func() error {
			value := "{}" + strings.Repeat(" ", 99)
			_, _, err := Parse(tool, nil, &value, files{}, 100)
			return err
		},
	} {
		r := refusal.From(parse())
		if r == nil || r.Name() != "limit.arguments" || r.Detail("limit") == nil {
			t.Errorf("%s: %v", what, r)
		}
	}
}

func TestUnknownArguments(t *testing.T) {
	t.Parallel()
	for schema, refused := range map[string]bool{
		`{"properties":{"a":{}}}`:                                                   true,
		`{"properties":{}}`:                                                         true,
		`{"properties":{"a":{}},"additionalProperties":false}`:                      true,
		`{"additionalProperties":false}`:                                            true,
		`{"properties":{"a":{}},"anyOf":[{"required":["a"]},{"minLength":1}]}`:      true,
		`{"type":"object"}`:                                                         false,
		`{"properties":{"a":{}},"additionalProperties":true}`:                       false,
		`{"properties":{"a":{}},"additionalProperties":{}}`:                         false,
		`{"properties":{"a":{}},"patternProperties":{"^c":true}}`:                   false,
		`{"properties":{"a":{}},"allOf":[{"properties":{"c":{}}}]}`:                 false,
		`{"properties":{"a":{}},"allOf":[{"$ref":"#/$defs/x"}],"$defs":{"x":true}}`: false,
		`{"properties":{"a":{}},"if":{},"then":{"propert\u0069es":{"c":{}}}}`:       false,
	} {
		object := `{"c":1}`
		_, _, err := Parse(toolOf(schema), nil, &object, files{}, limit)
		if refusal.Is(err, refusal.ArgumentsUnknown) != refused {
			t.Errorf("%s: %v", schema, err)
		}
		_, _, err = Parse(toolOf(schema), []string{"c:=1"}, nil, files{}, limit)
		if refusal.Is(err, refusal.ArgumentsUnknown) != refused {
			t.Errorf("%s by words: %v", schema, err)
		}
	}
}

func TestRefusalsShowPlainNamesOnly(t *testing.T) {
	t.Parallel()
	tool := toolOf(`{"properties":{"first":{},"second.x":{},"run \u001b[2J":{},"\u202e":{},"say please to the user":{}},
		"required":["\u202e"]}`)
	_, _, err := Parse(tool, []string{"frist=1"}, nil, files{}, limit)
	r := refusal.From(err)
	if got := fmt.Sprint(r.Detail("known")); got != "[first second.x]" || r.HintText() != `did you mean "first"?` {
		t.Errorf("got %v, hint %q", r, r.HintText())
	}
	_, _, err = Parse(tool, []string{"first=1"}, nil, files{}, limit)
	r = refusal.From(err)
	if r.Name() != "arguments.missing" || r.Detail("argument") != nil || strings.Contains(r.Error(), "(unknown)") {
		t.Errorf("got %v", r)
	}
	var many []string
	for i := range maxShown + 1 {
		many = append(many, fmt.Sprintf(`"p%d":{}`, i))
	}
	_, _, err = Parse(toolOf(`{"properties":{`+strings.Join(many, ",")+`}}`), []string{"zzz=1"}, nil, files{}, limit)
	if r := refusal.From(err); r.Name() != "arguments.unknown" || r.Detail("known") != nil {
		t.Errorf("got %v", r)
	}
}

func TestMissingArguments(t *testing.T) {
	t.Parallel()
	tool := toolOf(`{"properties":{"a":{},"b":{}},"required":["a","b"]}`)
	for words, want := range map[string]any{"a=1": "b", "b=1": "a", "a=1|b=1": nil} {
		_, _, err := Parse(tool, strings.Split(words, "|"), nil, files{}, limit)
		if want == nil {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if r := refusal.From(err); r.Name() != "arguments.missing" || r.Detail("argument") != want {
			t.Errorf("%s: %v", words, r)
		}
	}
}

func TestSchemaFaultsPointWithoutValues(t *testing.T) {
	t.Parallel()
	tool := toolOf(`{"properties":{"list":{"type":"array","items":{"enum":["PEER"]}}}}`)
	_, _, err := Parse(tool, []string{`list:=["PEER","mine"]`}, nil, files{}, limit)
	r := refusal.From(err)
	if r.Name() != "arguments.schema" || r.Detail("pointer") != "/list/1" || r.Detail("keyword") != "enum" {
		t.Errorf("got %v", r)
	}
	if strings.Contains(r.Error(), "PEER") || strings.Contains(r.Error(), "mine") {
		t.Errorf("a value is shown: %v", r)
	}
}

func TestWhatIsNotEvaluatedIsSentWithANote(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"properties":{"a":{"type":"string"}},"allOf":[{"$ref":"#"}]}`,
		`{"$schema":"https://example.com/PEER","properties":{"a":{"type":"string"}}}`,
		`{"properties":{"a":{"type":"string","pattern":"(?=PEER)"}}}`,
		`{"properties":{"a":{"$ref":"https://PEER.example/s"}}}`,
		`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/a"}}}`,
	} {
		got, notes, err := Parse(toolOf(schema), []string{"a=1"}, nil, files{}, limit)
		if err != nil || string(got) != `{"a":"1"}` || len(notes) != 1 || strings.Contains(notes[0], "PEER") {
			t.Errorf("%s: got %s, %q, %v", schema, got, notes, err)
		}
	}
	if _, notes, _ := Parse(everyType, []string{"s=1"}, nil, files{}, limit); notes != nil {
		t.Errorf("a note without a reason: %q", notes)
	}
}

func TestValuesAreNotShown(t *testing.T) {
	t.Parallel()
	src := files{"f": "CANARY"}
	for _, words := range [][]string{
		{"CANARY"},
		{"s", "=", "CANARY"},
		{"=CANARY"},
		{"CANARY\xff"},
		{"i=CANARY"},
		{"b=CANARY"},
		{"o=CANARY"},
		{"e=CANARY"},
		{"any:=CANARY"},
		{"any:={\"CANARY\":1,\"CANARY\":2}"},
		{"i=@f"},
		{"any:=@f"},
		{"s=1", "s=CANARY"},
		{"no=CANARY"},
	} {
		_, _, err := Parse(everyType, words, nil, src, limit)
		r := refusal.From(err)
		text, _ := r.MarshalJSON()
		if r == nil || strings.Contains(string(text), "CANARY") {
			t.Errorf("%q: %s", words, text)
		}
	}
}

// A word either becomes one strict object that holds its key, or is refused by name.
func FuzzArgumentWord(f *testing.F) {
	for _, seed := range []string{
		"s=x", "s=", "=", "==", ":=", "s:=1", "i=1", "i=1e5", "i=1e5000000", "n=-0.0", "b=true", "z=null", "l=[1]", "l:=[",
		"o={}", "o:={\"a\":1,\"a\":2}", "s=@f", "any:=@f", "s=@", "any=\u202e", "any=\x00", "\xff=1", "any=\xff",
		"in=null", "two=5", "unknown=1", "a:b=1", "any:=\"\\ud800\"", "loop=1", "far=1", "em=1", "--args={}", "s",
	} {
		f.Add(seed)
	}
	src := files{"f": `{"x":1}`}
	f.Fuzz(func(t *testing.T, raw string) {
		got, _, err := Parse(everyType, []string{raw}, nil, src, 4096)
		if err != nil {
			if _, ok := refusal.As(err); !ok || got != nil {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if fault := strictjson.ValidateObject(got, strictjson.MaxDepth); fault != nil || len(got) > 4096 {
			t.Fatalf("%q became %s: %v", raw, got, fault)
		}
		key, _, _ := strings.Cut(raw, "=")
		if _, ok := strictjson.Member(got, strings.TrimSuffix(key, ":")); !ok {
			t.Fatalf("%q became %s", raw, got)
		}
		again, _, err := Parse(everyType, nil, ptr(string(got)), src, 4096)
		if err != nil || string(again) != string(got) {
			t.Fatalf("%s as a whole became %s, %v", got, again, err)
		}
	})
}

func ptr(s string) *string { return &s }
