package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestFieldDiscovery(t *testing.T) { walk(t, discoveryCases) }

// signsIn signs in to a world with these replies. Where that is refused, nobody was asked and nothing is kept.
func signsIn(mcp, as replies) func(*field) ended {
	return func(f *field) ended { return f.world(mcp, as).signs() }
}

func (w *world) signs(words ...string) ended {
	w.Helper()
	end := w.login(words...)
	if end.exit != 0 {
		w.nobodyAsked()
		w.nothingStored()
	} else if end := w.run("discover", "s"); end.exit != 0 {
		w.Errorf("after the sign-in discover ends with %d: %s", end.exit, end.stderr)
	}
	return end
}

// challenged signs in where the 401 has these header lines.
func challenged(lines ...string) func(*field) ended {
	return func(f *field) ended { return f.world(nil, nil).challenges(lines...).signs() }
}

// sameResource fails the case where one of the requests names another resource.
func (w *world) sameResource(want string) {
	w.Helper()
	for _, q := range append(w.person.requests(), w.forms()...) {
		if q.Get("resource") != want {
			w.Errorf("resource is %q, want %q", q.Get("resource"), want)
		}
	}
}

// rootEndpoint signs in to a server at the root of its origin, whose metadata says this resource.
func rootEndpoint(configured, says string) func(*field) ended {
	return func(f *field) ended {
		w := f.world(replies{pathForm: nil, rootForm: resourceDocument(says)}, nil)
		w.http(strings.ReplaceAll(configured, "$ORIGIN", w.mcp.origin), "")
		w.challenges("WWW-Authenticate: Bearer")
		end := w.signs()
		w.sameResource(strings.ReplaceAll(says, "$ORIGIN", w.mcp.origin))
		return end
	}
}

// endpointAt signs in to an endpoint of that path, whose metadata says this resource.
func endpointAt(path, says string) func(*field) ended {
	return func(f *field) ended {
		w := f.world(replies{
			pathForm: nil, "GET /.well-known/oauth-protected-resource" + path: resourceDocument(says),
		}, nil)
		w.http(w.mcp.origin+path, "")
		end := w.challenges("WWW-Authenticate: Bearer").signs()
		if end.exit == 4 {
			w.wantDetail(end, "endpoint", w.mcp.origin+path)
			w.wantDetail(end, "resource", strings.ReplaceAll(says, "$ORIGIN", w.mcp.origin))
		}
		return end
	}
}

// issuerAs signs in where the resource names one issuer string and the metadata another; pin is configured, or "".
func issuerAs(named, says, pin string) func(*field) ended {
	return func(f *field) ended {
		w := f.world(replies{pathForm: document(strings.Replace(resourceOK, "$AS", named, 1))},
			replies{serverForm: serverDocument(`{"issuer":"` + says + `"}`)})
		if pin != "" {
			w.http(w.mcp.url, `"oauth":{"issuer":`+quoted(strings.ReplaceAll(pin, "$AS", w.as.origin))+`}`)
		}
		end := w.signs()
		if end.refusal == "oauth.issuer_mismatch" {
			w.wantDetail(end, "expected", strings.ReplaceAll(named, "$AS", w.as.origin))
			w.wantDetail(end, "found", strings.ReplaceAll(says, "$ORIGIN", w.as.origin))
		}
		return end
	}
}

// endpointIs signs in where a member of the metadata has this value.
func endpointIs(member, value string) func(*field) ended {
	return signsIn(nil, replies{serverForm: serverDocument(`{"` + member + `":` + quoted(value) + `}`)})
}

var discoveryCases = []fieldCase{
	{"DISC-01", "neither has the slash", 0, "", rootEndpoint("$ORIGIN", "$ORIGIN")},
	{"DISC-01", "the metadata has it", 0, "", rootEndpoint("$ORIGIN", "$ORIGIN/")},
	{"DISC-01", "the configuration has it", 0, "", rootEndpoint("$ORIGIN/", "$ORIGIN")},
	{"DISC-02", "", 4, "oauth.resource_mismatch", func(f *field) ended {
		end := endpointAt("/mcp/", "$ORIGIN/mcp")(f)
		f.wantDetail(end, "difference", "only by a trailing slash")
		return end
	}},
	{"DISC-03", "parent path", 4, "oauth.resource_mismatch", endpointAt("/mcp/oauth", "$ORIGIN/mcp")},
	{"DISC-03", "origin by the path form", 4, "oauth.resource_mismatch", endpointAt("/mcp", "$ORIGIN")},
	{"DISC-03", "origin by the root form", 0, "", func(f *field) ended {
		w := f.world(replies{pathForm: nil, rootForm: resourceDocument("$ORIGIN")}, nil)
		end := w.challenges().signs()
		w.sameResource(w.mcp.origin)
		return end
	}},
	{"DISC-03", "another path by the root form", 4, "oauth.resource_mismatch", func(f *field) ended {
		return f.world(replies{pathForm: nil, rootForm: resourceDocument("$ORIGIN/other")}, nil).challenges().signs()
	}},
	{"DISC-04", "", 0, "", func(f *field) ended {
		w := f.world(replies{pathForm: nil, rootForm: document(resourceOK)}, nil)
		end := w.challenges().signs()
		f.want("requests", w.mcp.said(), pathForm+" "+rootForm)
		return end
	}},
	{"DISC-04", "the challenge names the root", 0, "", func(f *field) ended {
		w := f.world(replies{pathForm: nil, rootForm: document(resourceOK)}, nil)
		w.challenges(`WWW-Authenticate: Bearer resource_metadata="$ORIGIN/.well-known/oauth-protected-resource"`)
		end := w.signs()
		if len(w.mcp.requests(pathForm)) != 0 {
			f.Error("the path form was asked for before what the challenge names")
		}
		return end
	}},
	{"DISC-06", "", 4, "oauth.no_server_metadata", func(f *field) ended {
		w := f.world(replies{serverForm: serverDocument(`{"issuer":"$ORIGIN"}`)}, replies{serverForm: nil})
		end := w.signs()
		if len(w.mcp.requests(serverForm)) != 0 {
			f.Error("the MCP server's own document was asked for")
		}
		return end
	}},
	{"DISC-07", "no header", 0, "", challenged()},
	{"DISC-07", "bare", 0, "", challenged("WWW-Authenticate: Bearer")},
	{"DISC-07", "two lines", 0, "", challenged(`WWW-Authenticate: Basic realm="x"`, bearerOK)},
	{"DISC-07", "one line", 0, "", challenged(`WWW-Authenticate: Basic realm="a, b", Bearer error="invalid_token", ` +
		`resource_metadata="$ORIGIN/.well-known/oauth-protected-resource/mcp"`)},
	{"DISC-08", "", 0, "", challenged(bearerOK + ` scope="a b"`)},
	{"DISC-08", "garbage", 0, "", challenged(`WWW-Authenticate: Bearer resource_metadata=`)},
	{"DISC-09", "named with the slash", 4, "oauth.issuer_mismatch", func(f *field) ended {
		end := issuerAs("$AS/", "$ORIGIN", "")(f)
		f.wantDetail(end, "difference", "only by a trailing slash")
		return end
	}},
	{"DISC-09", "named without it", 4, "oauth.issuer_mismatch", issuerAs("$AS", "$ORIGIN/", "")},
	{"DISC-09", "pinned", 0, "", issuerAs("$AS/", "$ORIGIN", "$AS")},
	{"DISC-09", "pinned, the mirror case", 0, "", issuerAs("$AS", "$ORIGIN/", "$AS/")},
	{"DISC-10", "", 4, "oauth.issuer_mismatch", issuerAs("$AS", "https://honest.example", "")},
	{"DISC-10", "pinned to the honest one", 4, "oauth.issuer_not_listed", issuerAs("$AS", "https://honest.example",
		"https://honest.example")},
	{"DISC-11", "", 4, "oauth.no_resource_metadata", func(f *field) ended {
		w := f.world(replies{pathForm: nil, serverForm: serverDocument(`{}`)}, nil)
		end := w.challenges().signs()
		if said := w.mcp.said(); strings.Contains(said, "oauth-authorization-server") || strings.Contains(said, "/register") {
			f.Errorf("guessed: %s", said)
		}
		return end
	}},
	{"DISC-11", "401 for the well-known place", 4, "oauth.no_resource_metadata", func(f *field) ended {
		w := f.world(replies{pathForm: status(401, "text/plain", prose), rootForm: status(401, "text/plain", prose)}, nil)
		return w.challenges().signs()
	}},
	{"DISC-12", "", 0, "", func(f *field) ended {
		w := f.world(replies{
			pathForm: status(200, "text/html", "<!doctype html>"+prose), rootForm: document(resourceOK),
		}, nil)
		return w.challenges().signs()
	}},
	{"DISC-13", "absent", 4, "oauth.no_pkce", signsIn(nil, replies{
		serverForm: serverDocument(`{"code_challenge_methods_supported":null}`),
	})},
	{"DISC-13", "plain only", 4, "oauth.no_pkce", signsIn(nil, replies{
		serverForm: serverDocument(`{"code_challenge_methods_supported":["plain"]}`),
	})},
	{"DISC-13", "the OpenID document has it", 0, "", signsIn(nil, replies{
		serverForm: serverDocument(`{"code_challenge_methods_supported":null}`), openIDForm: serverDocument(`{}`),
	})},
	{"DISC-14", "file", 4, "oauth.endpoint_scheme", endpointIs("authorization_endpoint", "file:///c:/windows/calc.exe")},
	{"DISC-14", "no URL", 4, "oauth.endpoint_scheme", endpointIs("authorization_endpoint", "http:$(touch /tmp/x)")},
	{"DISC-14", "escape", 4, "oauth.endpoint_scheme", endpointIs("authorization_endpoint", "https://as.example/\x1b[2J")},
	{"DISC-14", "line break", 4, "oauth.endpoint_scheme", endpointIs("authorization_endpoint", "https://as.example/\nx")},
	{"DISC-14", "token", 4, "oauth.endpoint_scheme", endpointIs("token_endpoint", "smb://as.example/t")},
	{"DISC-14", "registration", 4, "oauth.endpoint_scheme", endpointIs("registration_endpoint", "http://as.example/r")},
	{"DISC-14", "revocation", 4, "oauth.endpoint_scheme", endpointIs("revocation_endpoint", "ftp://as.example/r")},
	{"DISC-14", "marks of a shell reach the browser as they are", 0, "", func(f *field) ended {
		w := f.world(nil, replies{serverForm: serverDocument(`{"authorization_endpoint":"$ORIGIN/a?x=$(id)&calc"}`)})
		f.browser()
		end := w.run("login", "s")
		f.want("argv", f.read("argv.json"), w.as.origin+`/a?`)
		f.want("argv", f.read("argv.json"), url.QueryEscape("$(id)"))
		f.notHolds(f.read("argv.json"), `","`)
		return end
	}},
	{"DISC-15", "metadata of the link", 4, "oauth.challenge_origin", challenged(
		`WWW-Authenticate: Bearer resource_metadata="http://169.254.169.254/latest/meta-data"`)},
	{"DISC-15", "redirect inwards", 4, "oauth.no_resource_metadata", signsIn(replies{
		pathForm: status(302, "", "", "Location: http://10.0.0.1/"),
	}, nil)},
	{"DISC-15", "huge", 3, "limit.document", signsIn(replies{
		pathForm: document(`{"resource":"` + strings.Repeat("x", 300<<10) + `"}`),
	}, nil)},
	{"DISC-15", "many authorization servers", 4, "oauth.metadata_invalid", signsIn(replies{
		pathForm: document(`{"resource":"$ORIGIN/mcp","authorization_servers":[` +
			strings.Repeat(`"$AS",`, 5000) + `"$AS"]}`),
	}, nil)},
	{"DISC-16", "", 4, "oauth.issuer_mismatch", func(f *field) ended {
		end := issuerAs("$AS", "https://clerk.brand.example", "")(f)
		f.want("difference", fmt.Sprint(end.detail["difference"]), "the host")
		return end
	}},
	{"DISC-16", "pinned to the other host", 4, "oauth.issuer_not_listed", issuerAs("$AS", "https://clerk.brand.example",
		"https://clerk.brand.example")},
	{"DISC-17", "", 0, "", func(f *field) ended {
		const place = "/v1/design/.well-known/oauth-protected-resource"
		w := f.world(replies{"GET " + place: resourceDocument("$ORIGIN/v1/design/mcp")}, nil)
		w.http(w.mcp.origin+"/v1/design/mcp", "")
		w.challenges(`WWW-Authenticate: Bearer resource_metadata="$ORIGIN` + place + `", scope="user:a user:b"`)
		end := w.signs()
		if q := f.person.requests(); len(q) != 1 || q[0].Get("scope") != "user:a user:b" {
			f.Errorf("asked for %v", q)
		}
		return end
	}},
	{"DISC-18", "", 0, "", func(f *field) ended {
		w := f.world(nil, nil)
		other := f.serve(replies{"POST /token": w.issues(3600)})
		w.as.change(replies{serverForm: serverDocument(
			`{"authorization_endpoint":"` + other.origin + `/authorize","token_endpoint":"` + other.origin + `/token"}`)})
		end := w.signs()
		if len(other.requests("POST /token")) != 1 {
			f.Errorf("the token endpoint heard %s", other.said())
		}
		return end
	}},
	{"DISC-20", "login", 4, "oauth.no_resource_metadata", func(f *field) ended {
		w := f.world(replies{pathForm: nil}, nil)
		return w.challenges().signs()
	}},
	{"DISC-20", "call with a configured key", 4, "source.rejected", func(f *field) ended {
		p := f.serve(modern())
		f.environ = append(f.environ, "API_KEY=sesame")
		f.config(`{"http":{"url":` + quoted(p.url) + `,"headers":{"X-Api-Key":{"env":"API_KEY"}}}}`)
		f.pin("t")
		p.change(replies{"tools/call": status(401, "application/json", `{"error":{"code":10,"id":null,"x":"`+prose+`"}}`)})
		return f.call("t")
	}},
	{"DISC-20", "call with a configured bearer", 4, "source.rejected", func(f *field) ended {
		p := f.serve(modern())
		f.environ = append(f.environ, "AUTH=Bearer sesame")
		f.config(`{"http":{"url":` + quoted(p.url) + `,"headers":{"Authorization":{"env":"AUTH"}}}}`)
		f.pin("t")
		p.change(replies{"tools/call": status(401, "text/plain", prose)})
		return f.call("t")
	}},
}
