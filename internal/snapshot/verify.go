package snapshot

import (
	"strconv"

	"mcpc/internal/strictjson"
)

// verify computes from the descriptors everything that the text says of them, fills the snapshot with what was
// computed, and returns the pointer to the first thing that the text says otherwise.
func (d *document) verify() (pointer string, ok bool) {
	elements, err := d.recompute()
	if err != nil {
		return "", false
	}
	for i := range elements {
		if pointer, ok = d.compare(i, &elements[i]); !ok {
			return pointer, false
		}
	}
	d.split(elements)
	if id, err := d.computeID(); err != nil || id != d.ID {
		return "/id", false
	}
	return "", true
}

// recompute judges every descriptor again, the tools first; of the text it takes the bytes, page and index alone.
func (d *document) recompute() ([]element, error) {
	elements := make([]element, 0, len(d.tools)+len(d.rejected))
	var buffer []byte
	for _, claims := range [][]claim{d.tools, d.rejected} {
		for i := range claims {
			e := element{page: claims[i].page, index: claims[i].index}
			e.Descriptor = claims[i].Descriptor
			e.Name, e.reason = judge(e.Descriptor, d.Server.HTTP != "")
			var err error
			if e.Raw, e.Digest, buffer, err = digests(e.Descriptor, buffer); err != nil {
				return nil, err
			}
			elements = append(elements, e)
		}
	}
	rejectDuplicates(elements)
	return elements, nil
}

func (d *document) compare(i int, e *element) (pointer string, ok bool) {
	list, member := "tools", ""
	if i < len(d.tools) {
		member = d.tools[i].differsAsTool(e)
	} else {
		list, i = "rejected", i-len(d.tools)
		member = d.rejected[i].differsAsRejected(e)
		if member == "" && i > 0 && !d.rejected[i-1].before(&d.rejected[i]) {
			member = "index"
		}
	}
	if member == "" {
		return "", true
	}
	return strictjson.Pointer(list, strconv.Itoa(i), member), false
}

// differsAsTool returns the first member in which the text differs from what its descriptor gives, or "".
func (c *claim) differsAsTool(e *element) string {
	switch {
	case c.Name != e.Name:
		return "name"
	case c.Digest != e.Digest:
		return "digest"
	case e.reason != "":
		return "descriptor"
	}
	return c.differs(e)
}

func (c *claim) differsAsRejected(e *element) string {
	if c.reason != e.reason || e.reason == "" {
		return "reason"
	}
	return c.differs(e)
}

func (c *claim) differs(e *element) string {
	switch {
	case c.Raw != e.Raw:
		return "raw"
	case c.bytes != int64(len(e.Descriptor)):
		return "bytes"
	}
	return ""
}

// before holds for two rejected descriptors in the order of the list.
func (c *claim) before(next *claim) bool {
	return c.page < next.page || (c.page == next.page && c.index < next.index)
}
