package custody

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// echo is all that a server received, as it may come back in an answer.
func echo(req *http.Request) string {
	var b bytes.Buffer
	b.WriteString(req.Method + " " + req.URL.String() + "\n")
	_ = req.Header.Write(&b)
	body := new(bytes.Buffer)
	_, _ = body.ReadFrom(req.Body)
	fmt.Fprintf(&b, "\n%s\n%s", body, req.Form.Encode())
	return b.String()
}

// kinds of faults: answers that repeat what was received, each in another way.
var faultKinds = map[string]func(rw http.ResponseWriter, req *http.Request){
	"page":  func(rw http.ResponseWriter, req *http.Request) { answerWith(rw, 500, "text/html", echo(req)) },
	"junk":  func(rw http.ResponseWriter, req *http.Request) { answerWith(rw, 200, "text/plain", echo(req)) },
	"empty": func(rw http.ResponseWriter, _ *http.Request) { answerWith(rw, 200, "application/json", "") },
	"error": func(rw http.ResponseWriter, req *http.Request) {
		answerWith(rw, 400, "application/json", oauthError(req))
	},
	"strange": func(rw http.ResponseWriter, req *http.Request) { answerWith(rw, 200, "application/json", strange(req)) },
	"rpc": func(rw http.ResponseWriter, req *http.Request) {
		answerWith(rw, 200, "application/json", rpcError(req))
	},
	"stream": func(rw http.ResponseWriter, req *http.Request) {
		answerWith(rw, 200, "text/event-stream", streamOf(req))
	},
	"forbidden": challenge(403),
	"refused":   challenge(401),
	"redirect": func(rw http.ResponseWriter, req *http.Request) {
		rw.Header().Set("Location", "https://elsewhere.example/?"+fmt.Sprintf("%q", echo(req)))
		answerWith(rw, 307, "text/plain", echo(req))
	},
	"busy": func(rw http.ResponseWriter, req *http.Request) {
		rw.Header().Set("Retry-After", fmt.Sprintf("%q", echo(req)))
		answerWith(rw, 429, "text/plain", echo(req))
	},
	"half": func(rw http.ResponseWriter, req *http.Request) {
		rw.Header().Set("Content-Length", "100000")
		answerWith(rw, 200, "application/json", `{"access_token":"`+req.Header.Get("Authorization"))
	},
	"cut": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
}

func answerWith(rw http.ResponseWriter, status int, kind, body string) {
	rw.Header().Set("Content-Type", kind)
	rw.WriteHeader(status)
	_, _ = rw.Write([]byte(body))
}

func oauthError(req *http.Request) string {
	return fmt.Sprintf(`{"error":%[1]q,"error_description":%[1]q,"error_uri":%[1]q}`, oneLine(echo(req)))
}

func strange(req *http.Request) string {
	e := oneLine(echo(req))
	return fmt.Sprintf(
		`{"issuer":%[1]q,"resource":%[1]q,"client_id":%[1]q,"token_type":%[1]q,"scope":%[1]q,"resultType":%[1]q}`, e)
}

func rpcError(req *http.Request) string {
	e := oneLine(echo(req))
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":%[1]q,"data":{"echo":%[1]q}}}`, e)
}

func streamOf(req *http.Request) string {
	return ": " + oneLine(echo(req)) + "\nevent: " + oneLine(echo(req)) + "\ndata: " + rpcError(req) + "\n\n"
}

func oneLine(text string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(text) }

func challenge(status int) func(http.ResponseWriter, *http.Request) {
	return func(rw http.ResponseWriter, req *http.Request) {
		e := strings.ReplaceAll(oneLine(echo(req)), `"`, "'")
		value := fmt.Sprintf(`Bearer error="invalid_token", error_description="%[1]s", scope="%[1]s"`, e)
		rw.Header().Set("WWW-Authenticate", value)
		answerWith(rw, status, "text/plain", e)
	}
}

// faultPlace is the request that is answered badly, and the command under way.
type faultPlace struct {
	name, line string
	command    []string
	signedIn   bool // before
	expired    bool
}

var faultPlaces = []faultPlace{
	{"resource metadata", "mcp GET /.well-known/oauth-protected-resource/mcp", []string{"login", "docs"}, false, false},
	{"server metadata", "as GET /.well-known/oauth-authorization-server", []string{"login", "docs"}, false, false},
	{"registration", "as POST /register", []string{"login", "docs"}, false, false},
	{"authorization", "as GET /authorize", []string{"login", "docs"}, false, false},
	{"code for a token", tokenLine, []string{"login", "docs"}, false, false},
	{"code for a token, own client", tokenLine, []string{"login", "desk"}, false, false},
	{"refresh", tokenLine, []string{"discover", "docs"}, true, true},
	{"discovery", "mcp POST /mcp", []string{"discover", "docs"}, true, false},
	{"snapshot", "mcp POST /mcp", []string{"snapshot", "take", "docs", "-o", "-"}, true, false},
	{"call", "mcp POST /mcp", []string{"call", "docs", "say", "--authority", "AUTHORITY"}, true, false},
	{"refresh for a call", tokenLine, []string{"call", "docs", "say", "--authority", "AUTHORITY"}, true, true},
	{"revocation", "as POST /revoke", []string{"logout", "docs"}, true, false},
}
