package main

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestFieldRegistration(t *testing.T) { walk(t, registrationCases) }
func TestFieldToken(t *testing.T)        { walk(t, tokenCases) }

// registered signs in where the registration is answered like this.
func registered(say reply) func(*field) ended {
	return func(f *field) ended { return f.world(nil, replies{"POST /register": say}).signs() }
}

// returns signs in where the person comes back with these parameters.
func returns(as string, more url.Values) func(*field) ended {
	return func(f *field) ended {
		w := f.world(nil, replies{serverForm: serverDocument(as)})
		params := url.Values{}
		for name, values := range more {
			for _, value := range values {
				params.Add(name, strings.ReplaceAll(value, "$AS", w.as.origin))
			}
		}
		f.person.back = comesBack(params)
		end := w.login()
		if end.exit != 0 {
			w.nothingStored()
			if end.refusal != "oauth.token_error" && len(w.forms()) != 0 {
				f.Error("the code went out")
			}
		}
		for _, page := range f.person.told() {
			f.notHolds(page, prose)
		}
		return end
	}
}

// tokened signs in where the code is answered with these bytes; what is printed has to hold the text.
func tokened(body, prints string) func(*field) ended {
	return func(f *field) ended {
		w := f.world(nil, nil)
		w.as.change(replies{"POST /token": w.token(body)})
		end := w.login()
		f.want("stdout", end.stdout, prints)
		if end.exit != 0 {
			w.nothingStored()
		} else if after := w.run("discover", "s"); after.exit != 0 {
			f.Errorf("the token is not used: %s", after.stderr)
		}
		return end
	}
}

// freePort returns the number of a port that nobody listens on.
func (f *field) freePort() int {
	f.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	f.must(err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// occupy listens on a port until the case ends.
func (f *field) occupy(address string) {
	f.Helper()
	l, err := net.Listen("tcp", address)
	f.must(err)
	f.Cleanup(func() { _ = l.Close() })
}

// preregistered configures the server with a client of its own and that callback.
func (w *world) preregistered(callback string) {
	w.Helper()
	w.http(w.mcp.url, `"oauth":{"client":{"id":"mine","issuer":`+quoted(w.as.origin)+`},"callback":`+quoted(callback)+
		`},"limits":{"sign_in_ms":300}`)
}

// never lets the person stay on the authorization server's page.
func never(url.Values) []string { return nil }

var registrationCases = []fieldCase{
	{"REG-01", "another port, another registration", 0, "", func(f *field) ended {
		w := f.world(nil, nil)
		w.signedIn()
		first := f.person.requests()[0].Get("redirect_uri")
		u, err := url.Parse(first)
		f.must(err)
		f.occupy(u.Host)
		end := w.login()
		asked, registrations := f.person.requests(), w.as.requests("POST /register")
		if len(asked) != 2 || asked[1].Get("redirect_uri") == first || len(registrations) != 2 {
			f.Fatalf("asked %v after %d registrations", asked, len(registrations))
		}
		f.want("registration", registrations[1].body, asked[1].Get("redirect_uri"))
		return end
	}},
	{"REG-01", "the same port, the same registration", 0, "", func(f *field) ended {
		w := f.world(nil, nil)
		w.signedIn()
		end := w.login()
		asked := f.person.requests()
		if len(asked) != 2 || asked[1].Get("redirect_uri") != asked[0].Get("redirect_uri") ||
			len(w.as.requests("POST /register")) != 1 {
			f.Errorf("asked %v", asked)
		}
		return end
	}},
	{"REG-01", "registered beforehand, and busy", 4, "oauth.callback_busy", func(f *field) ended {
		w := f.world(nil, nil)
		callback := fmt.Sprintf("127.0.0.1:%d", f.freePort())
		f.occupy(callback)
		w.preregistered(callback)
		return w.login()
	}},
	{"REG-01", "no way back", 5, "limit.deadline_sign_in", func(f *field) ended {
		w := f.world(nil, nil)
		callback := fmt.Sprintf("127.0.0.1:%d", f.freePort())
		w.preregistered(callback)
		f.person.back = never
		end := w.login()
		f.wantDetail(end, "callback", callback)
		return end
	}},
	{"REG-02", "forgotten when the code is exchanged", 4, "oauth.token_error", func(f *field) ended {
		w := f.world(nil, nil)
		w.signedIn()
		w.as.change(replies{"POST /token": status(401, "application/json", `{"error":"invalid_client"}`)})
		end := w.login()
		w.as.change(replies{"POST /token": w.issues(3600)})
		w.signedIn()
		if n := len(w.as.requests("POST /register")); n != 2 {
			f.Errorf("%d registrations, want the first and one after the refusal", n)
		}
		return end
	}},
	{"REG-02", "forgotten when the token is refreshed", 4, "oauth.login_required", func(f *field) ended {
		w := f.world(nil, nil)
		w.signedIn()
		w.expire()
		w.as.change(replies{"POST /token": status(401, "application/json", `{"error":"invalid_client"}`)})
		end := w.run("discover", "s")
		w.as.change(replies{"POST /token": w.issues(3600)})
		w.signedIn()
		if n := len(w.as.requests("POST /register")); n != 2 {
			f.Errorf("%d registrations, want the first and one after the refusal", n)
		}
		return end
	}},
	{"REG-03", "", 4, "oauth.registration_redirect_changed", registered(status(201, "application/json",
		`{"client_id":"c","redirect_uris":["https://mcp.example.com/callback"]}`))},
	{"REG-04", "at the authorization endpoint", 4, "oauth.authorization_error", func(f *field) ended {
		end := returns(`{}`, url.Values{"error": {"unauthorized_client"}, "error_description": {prose}})(f)
		f.wantDetail(end, "code", "unauthorized_client")
		return end
	}},
	{"REG-04", "at the registration", 4, "oauth.registration_failed", func(f *field) ended {
		end := registered(status(400, "application/json", `{"error":"invalid_redirect_uri","error_description":"`+prose+
			`"}`))(f)
		f.wantDetail(end, "code", "invalid_redirect_uri")
		return end
	}},
	{"REG-04", "with a code of its own", 4, "oauth.registration_failed", func(f *field) ended {
		end := registered(status(400, "application/json", `{"error":"`+prose+`"}`))(f)
		f.wantDetail(end, "code", "other")
		return end
	}},
	{"REG-06", "", 0, "", registered(document(
		`{"client_id":"abc","client_id_issued_at":"1760000000","client_secret":null,"contacts":null}`))},
	{"REG-06", "only the id", 0, "", registered(status(201, "application/json", `{"client_id":"abc"}`))},
	{"REG-06", "odd types", 0, "", registered(document(
		`{"client_id":"abc","client_secret_expires_at":"never","client_uri":null,"contacts":7,"redirect_uris":null}`))},
	{"REG-06", "no id", 4, "oauth.registration_failed", registered(document(`{"client_id":""}`))},
	{"REG-07", "a fixed port", 0, "", metadataURL(`{"client_id_metadata_document_supported":true}`, nil)},
	{"REG-07", "not offered", 0, "", metadataURL(`{}`, nil)},
	{"REG-07", "the server refuses the port", 5, "limit.deadline_sign_in", func(f *field) ended {
		end := metadataURL(`{"client_id_metadata_document_supported":true}`, never)(f)
		f.want("hint", end.hint, "client metadata document")
		return end
	}},
	{"REG-08", "the default is literal", 0, "", func(f *field) ended {
		w := f.world(nil, nil)
		end := w.login()
		f.want("redirect URI", f.person.requests()[0].Get("redirect_uri"), "http://127.0.0.1:")
		return end
	}},
	{"REG-08", "localhost by IPv4", 0, "", loopbackFamily("127.0.0.1")},
	{"REG-08", "localhost by IPv6", 0, "", loopbackFamily("[::1]")},
	{"REG-09", "localhost", 0, "", spelledCallback("localhost")},
	{"REG-09", "127.0.0.1", 0, "", spelledCallback("127.0.0.1")},
	{"REG-09", "elsewhere", 2, "config.value", func(f *field) ended {
		w := f.world(nil, nil)
		w.preregistered("mcp.example.com:3118")
		return w.login()
	}},
}

// metadataURL signs in with a client metadata document and a callback of a fixed port.
func metadataURL(as string, back func(url.Values) []string) func(*field) ended {
	return func(f *field) ended {
		const document = "https://client.example/mcpc.json"
		w := f.world(nil, replies{serverForm: serverDocument(as)})
		callback := fmt.Sprintf("127.0.0.1:%d", f.freePort())
		w.http(w.mcp.url, `"oauth":{"client_metadata_url":"`+document+`","callback":"`+callback+
			`"},"limits":{"sign_in_ms":400}`)
		f.person.back = back
		end := w.login()
		q := f.person.requests()[0]
		offered := as != `{}`
		if q.Get("redirect_uri") != "http://"+callback+"/callback" || (q.Get("client_id") == document) != offered ||
			(len(w.as.requests("POST /register")) == 0) != offered {
			f.Errorf("asked for %v", q)
		}
		return end
	}
}

// loopbackFamily signs in with a callback on localhost, and comes back by that address.
func loopbackFamily(host string) func(*field) ended {
	return func(f *field) ended {
		if l, err := net.Listen("tcp", host+":0"); err != nil {
			host = "127.0.0.1" // a machine without IPv6 has one family only
		} else {
			_ = l.Close()
		}
		w := f.world(nil, nil)
		w.preregistered("localhost:" + fmt.Sprint(f.freePort()))
		f.person.dials = host
		return w.login()
	}
}

// spelledCallback signs in with a client that was registered with that spelling of this machine.
func spelledCallback(host string) func(*field) ended {
	return func(f *field) ended {
		w := f.world(nil, nil)
		want := fmt.Sprintf("%s:%d", host, f.freePort())
		w.preregistered(want)
		end := w.login()
		for _, q := range append(f.person.requests(), w.forms()...) {
			if q.Get("redirect_uri") != "http://"+want+"/callback" {
				f.Errorf("redirect_uri is %q", q.Get("redirect_uri"))
			}
		}
		return end
	}
}

const issAdvertised = `{"authorization_response_iss_parameter_supported":true}`

var code = url.Values{"code": {"CODE"}}

// coded is the parameters of a good answer and more.
func coded(more ...string) url.Values {
	q := url.Values{"code": {"CODE"}}
	for i := 0; i < len(more); i += 2 {
		q.Add(more[i], more[i+1])
	}
	return q
}

// expiresIn signs in where the life of the token is written like this.
func expiresIn(life, prints string) func(*field) ended {
	return tokened(`{"access_token":"AT1","token_type":"Bearer","expires_in":`+life+`}`, prints)
}

var tokenCases = []fieldCase{
	{"TOK-01", "a string", 0, "", tokened(`{"token_type":"Bearer","expires_in":"5250","expires_on":"1759495112",`+
		`"resource":"api://x","access_token":"AT1"}`, `"expires":"20`)},
	{"TOK-01", "3600abc", 0, "", expiresIn(`"3600abc"`, `"expires":null`)},
	{"TOK-01", "negative", 0, "", expiresIn(`-1`, `"expires":null`)},
	{"TOK-01", "1e3", 0, "", expiresIn(`1e3`, `"expires":null`)},
	{"TOK-01", "too large", 0, "", expiresIn(`99999999999999999999`, `"expires":null`)},
	{"TOK-02", "0 is over", 0, "", func(f *field) ended {
		w := f.world(nil, nil)
		w.as.change(replies{"POST /token": w.issues(0)})
		w.signedIn()
		end := w.run("discover", "s")
		if forms := w.forms(); len(forms) < 2 || forms[1].Get("grant_type") != "refresh_token" {
			f.Errorf("the token endpoint heard %v", forms)
		}
		return end
	}},
	{"TOK-02", "missing is unknown", 0, "", tokened(`{"access_token":"AT1","token_type":"Bearer"}`, `"expires":null`)},
	{"TOK-04", "of the code", 4, "oauth.token_error", func(f *field) ended {
		w := f.world(nil, replies{"POST /token": document(`{"error":"bad_refresh_token","error_description":"` + prose +
			`","error_uri":"https://x.example/` + prose + `"}`)})
		end := w.login()
		w.nothingStored()
		f.wantDetail(end, "code", "bad_refresh_token")
		return end
	}},
	{"TOK-04", "no token at all", 4, "oauth.token_answer", tokened(`{"token_type":"Bearer"}`, "")},
	{"TOK-04", "of a refresh", 4, "oauth.login_required", func(f *field) ended {
		w := f.world(nil, nil)
		w.signedIn()
		w.expire()
		w.as.change(replies{"POST /token": document(`{"error":"bad_refresh_token","error_description":"` + prose + `"}`)})
		end := w.run("discover", "s")
		f.want("credentials", w.run("credentials").stdout, w.as.origin)
		return end
	}},
	{"TOK-05", "no type, scopes in an array", 0, "", tokened(
		`{"access_token":"AT1","expires_in":3600,"scope":["a","b"]}`, `"scopes":["a","b"]`)},
	{"TOK-05", "BEARER and a blank", 0, "", tokened(`{"access_token":"AT1","token_type":"BEARER "}`, "")},
	{"TOK-05", "no scope", 0, "", tokened(`{"access_token":"AT1","token_type":"bearer"}`, `"scopes":["read"]`)},
	{"TOK-05", "DPoP", 4, "oauth.token_type", tokened(`{"access_token":"AT1","token_type":"DPoP"}`, "")},
	{"TOK-06", "at the authorization endpoint", 4, "oauth.resource_refused", returns(`{}`, url.Values{
		"error": {"invalid_target"}, "error_description": {prose},
	})},
	{"TOK-06", "by prose only", 4, "oauth.authorization_error", returns(`{}`, url.Values{
		"error": {"invalid_request"}, "error_description": {"AADSTS901002 " + prose},
	})},
	{"TOK-06", "at the token endpoint", 4, "oauth.resource_refused", func(f *field) ended {
		w := f.world(nil, replies{"POST /token": status(400, "application/json", `{"error":"invalid_resource"}`)})
		end := w.login()
		if n := len(w.forms()); n != 1 {
			f.Errorf("asked %d times", n)
		}
		w.sameResource(w.mcp.url)
		f.want("hint", end.hint, "never asks without a resource indicator")
		return end
	}},
	{"TOK-07", "", 0, "", func(f *field) ended {
		w := f.world(replies{pathForm: nil, rootForm: document(
			`{"resource":"$ORIGIN","authorization_servers":["$AS"],"scopes_supported":["$ORIGIN/.default"]}`)}, nil)
		w.http(w.mcp.origin, "")
		w.challenges("WWW-Authenticate: Bearer")
		w.signedIn()
		w.expire()
		end := w.run("discover", "s")
		if n := len(w.forms()); n != 2 {
			f.Errorf("the token endpoint heard %d requests", n)
		}
		w.sameResource(w.mcp.origin)
		return end
	}},
	{"TOK-08", "", 0, "", returns(issAdvertised, coded("iss", "$AS"))},
	{"TOK-09", "advertised, equal", 0, "", returns(issAdvertised, coded("iss", "$AS"))},
	{"TOK-09", "advertised, different", 4, "oauth.callback_issuer", returns(issAdvertised, coded("iss", "$AS/"))},
	{"TOK-09", "advertised, absent", 4, "oauth.callback_issuer", returns(issAdvertised, code)},
	{"TOK-09", "not advertised, equal", 0, "", returns(`{}`, coded("iss", "$AS"))},
	{"TOK-09", "not advertised, different", 4, "oauth.callback_issuer", returns(`{}`,
		coded("iss", "https://other.example"))},
	{"TOK-09", "not advertised, absent", 0, "", returns(`{}`, code)},
	{"TOK-09", "an error of another issuer", 4, "oauth.callback_issuer", returns(`{}`, url.Values{
		"error": {"access_denied"}, "error_description": {prose}, "iss": {"https://other.example"},
	})},
	{"TOK-09", "an error of the issuer", 4, "oauth.denied", returns(issAdvertised, url.Values{
		"error": {"access_denied"}, "error_description": {prose}, "iss": {"$AS"},
	})},
	{"TOK-09", "two issuers", 4, "oauth.callback_issuer", returns(`{}`, coded("iss", "$AS", "iss", "$AS"))},
	{"TOK-09", "two codes", 4, "oauth.callback_invalid", returns(`{}`, coded("code", "D"))},
	{"TOK-09", "both a code and an error", 4, "oauth.callback_invalid", returns(`{}`, coded("error", "access_denied"))},
	{"TOK-10", "", 0, "", func(f *field) ended {
		w := f.world(nil, nil)
		f.person.back = func(q url.Values) []string {
			redirect := q.Get("redirect_uri")
			return []string{
				strings.TrimSuffix(redirect, "/callback") + "/favicon.ico", redirect + "?code=x", redirect + "?code=x&state=wrong",
				redirect + "?code=x&state=" + q.Get("state") + "&state=" + q.Get("state"), callback(q, code), callback(q, code),
			}
		}
		end := w.login()
		state := f.person.requests()[0].Get("state")
		if slices.ContainsFunc(f.person.told(), func(page string) bool { return strings.Contains(page, state) }) {
			f.Error("a page tells the state")
		}
		if forms := w.forms(); len(forms) != 1 || forms[0].Get("code") != "CODE" {
			f.Errorf("the token endpoint heard %v", forms)
		}
		u, err := url.Parse(f.person.requests()[0].Get("redirect_uri"))
		f.must(err)
		f.occupy(u.Host) // free again
		return end
	}},
}
