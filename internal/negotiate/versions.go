package negotiate

import (
	"slices"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
	"mcpc/internal/transport"
)

// versionsShown bounds the list in a refusal.
const versionsShown = 16

// texts returns the strings of an array; ok is false unless it is an array of at least one string and nothing else.
func texts(array []byte) (list []string, ok bool) {
	for _, element := range strictjson.Elements(array) {
		text, isText := strictjson.Text(element)
		if !isText {
			return nil, false
		}
		list = append(list, text)
	}
	return list, len(list) > 0
}

// supported returns what the data of a -32022 lists; nothing when it has no such list.
func supported(data []byte) []string {
	member, _ := strictjson.Member(data, "supported")
	list, _ := texts(member)
	return list
}

// admits reports whether a version may come out of a handshake. The modern version has none.
func admits(server *config.Server, version string) bool {
	return version == transport.Legacy || version != transport.Modern && slices.Contains(server.AcceptProtocols, version)
}

// dated reports whether v has the shape of a released version. The names of versions come from the server: nothing
// else of them may be repeated.
func dated(v string) bool {
	if len(v) != len("YYYY-MM-DD") {
		return false
	}
	for i, c := range []byte(v) {
		if dash := i == 4 || i == 7; dash != (c == '-') || !dash && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// unknownVersion refuses versions that are not common; only those that look like versions are named.
func unknownVersion(listed ...string) *refusal.Refusal {
	var named []string
	for _, v := range listed {
		if dated(v) && !slices.Contains(named, v) && len(named) < versionsShown {
			named = append(named, v)
		}
	}
	if named == nil {
		return refusal.New(refusal.ProtocolVersion)
	}
	no := refusal.New(refusal.ProtocolVersion, refusal.Owns("versions", named))
	if slices.Min(named) < transport.Legacy {
		no = no.Hint("an older version is spoken to a server that lists it under accept_protocols in the configuration")
	}
	return no
}
