package snapshot

import (
	"slices"
	"strconv"

	"mcpc/internal/strictjson"
)

const serverInfoMeta = "io.modelcontextprotocol/serverInfo" // of a DiscoverResult

// informational compares what is in no digest.
func (d *differ) informational() {
	d.order()
	d.handshakeRest()
	d.inform(ClassExecutable, "/recorded/executable", quoted(d.old.Recorded.Executable), quoted(d.new.Recorded.Executable))
	d.inform(ClassExecutable, "/recorded/sha256",
		quoted(string(d.old.Recorded.ExecutableDigest)), quoted(string(d.new.Recorded.ExecutableDigest)))
	d.inform(ClassExecutable, "/recorded/env", names(d.old.Recorded.Env), names(d.new.Recorded.Env))
	d.inform(ClassAuth, "/auth", d.old.Auth.json(), d.new.Auth.json())
	d.bounds()
}

func (d *differ) inform(class Class, pointer string, old, new []byte) {
	if !equal(old, new) {
		d.info = append(d.info, record(class, "", pointer, sides{old, new}))
	}
}

func quoted(s string) []byte {
	if s == "" {
		return nil
	}
	return strictjson.Quote(s)
}

func names(list []string) []byte {
	if len(list) == 0 {
		return nil
	}
	return appendStrings(nil, list)
}

func (a *Auth) json() []byte {
	if a == nil {
		return nil
	}
	return a.append(nil)
}

// order compares the order of the tools that both have.
func (d *differ) order() {
	olds, news := index(d.old), index(d.new)
	before, now := common(d.old, news), common(d.new, olds)
	if !slices.Equal(before, now) {
		d.inform(ClassOrder, "/tools", appendStrings(nil, before), appendStrings(nil, now))
	}
}

func common(s *Snapshot, other map[string]*Tool) []string {
	var list []string
	for i := range s.Tools {
		if other[s.Tools[i].Name] != nil {
			list = append(list, s.Tools[i].Name)
		}
	}
	return list
}

// handshakeRest compares the members of the handshake that are not in the id.
func (d *differ) handshakeRest() {
	w := walker{}
	w.members("/handshake", sides{d.old.Handshake, d.new.Handshake}, func(member string) spot {
		switch member {
		case "serverInfo":
			return spot{class: ClassServerInfo}
		case "ttlMs", "cacheScope":
			return spot{class: ClassTTL}
		}
		return spot{class: ClassHandshake}
	})
	for _, r := range w.records {
		switch {
		case inPointer(r.Pointer, "/handshake/capabilities"), inPointer(r.Pointer, "/handshake/instructions"):
			continue
		case inPointer(r.Pointer, "/handshake"+strictjson.Pointer("_meta", serverInfoMeta)):
			r.Class = ClassServerInfo
		}
		d.info = append(d.info, r)
	}
}

// inPointer reports whether a pointer leads to a place or below it.
func inPointer(pointer, place string) bool {
	return pointer == place || len(pointer) > len(place) && pointer[:len(place)+1] == place+"/"
}

func (d *differ) bounds() {
	before := map[string]int64{}
	for _, b := range d.old.Bounds {
		before[b.Member] = b.Value
	}
	for _, b := range d.new.Bounds {
		old, known := before[b.Member]
		delete(before, b.Member)
		s := sides{new: strconv.AppendInt(nil, b.Value, 10)}
		if known {
			s.old = strconv.AppendInt(nil, old, 10)
		}
		d.inform(ClassBounds, "/bounds"+strictjson.Pointer(b.Member), s.old, s.new)
	}
	for _, b := range d.old.Bounds {
		if _, gone := before[b.Member]; gone {
			d.inform(ClassBounds, "/bounds"+strictjson.Pointer(b.Member), strconv.AppendInt(nil, b.Value, 10), nil)
		}
	}
}
