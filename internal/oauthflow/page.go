package oauthflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"sync"
)

// page is what the browser shows after the callback. It holds our words and what the operator calls the server, and
// nothing that the authorization server said.
type page struct {
	Title    string
	Server   string // name of the server
	Endpoint string // its URL, where that is not the name
	Failed   string // name of the refusal
	Reason   string // its sentence
	Text     string
}

const pageStyle = `:root{color-scheme:light dark}
:root{--ink:#1b1f24;--soft:#57606a;--ground:#fff;--line:#d0d7de;--mark:#1a7f37}
:root.failed{--mark:#b42318}
@media(prefers-color-scheme:dark){
:root{--ink:#e6edf3;--soft:#9ba5b0;--ground:#0d1117;--line:#30363d;--mark:#3fb950}
:root.failed{--mark:#ff7b72}}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--ground);color:var(--ink)}
body{font:1.05rem/1.5 system-ui,sans-serif}
main{max-width:32rem;margin:1.5rem;padding:1.5rem 2rem;border:1px solid var(--line);border-radius:.4rem}
main{border-left:.35rem solid var(--mark)}
h1{margin:0 0 .6rem;font-size:1.4rem}p{margin:.4rem 0}.soft{color:var(--soft)}code{overflow-wrap:anywhere}
h1::before{content:"\2713";color:var(--mark);margin-right:.6rem}.failed h1::before{content:"\2715"}
:root.plain{--mark:var(--line)}.plain h1::before{content:none}`

// pageTemplate is parsed when a page is written, which most runs of the program never do.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

const pageText = `<!doctype html>
<html lang="en"{{if .Failed}} class="failed"{{else if not .Server}} class="plain"{{end}}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Title}} – mcpc</title>
<style>{{.Style}}</style></head>
<body><main><h1>{{.Title}}</h1>
{{with .Server}}<p>Server: <code>{{.}}</code>{{with $.Endpoint}}<br><code class="soft">{{.}}</code>{{end}}</p>
{{end}}{{with .Failed}}<p>Reason: {{$.Reason}} (<code>{{.}}</code>)</p>
{{end}}{{with .Text}}<p class="soft">{{.}}</p>
{{end}}</main></body></html>
`

func styleHash() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// writePage sends a page that loads nothing, runs nothing, is kept nowhere, and hands its own URL, which holds the
// code, to nobody.
func writePage(w http.ResponseWriter, status int, p page) {
	var b bytes.Buffer
	data := struct {
		page
		Style template.CSS
	}{p, template.CSS(pageStyle)} //nolint:gosec // a constant of ours
	if err := pageTemplate().Execute(&b, data); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+styleHash()+
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
	_ = http.NewResponseController(w).Flush() // the listener closes right after
}
