package schema

import "unicode/utf8"

// assert evaluates what is asked of the value itself.
func (r *run) assert(n *node, value any) *fault {
	if n.types != 0 && n.types&kindOf(value) == 0 {
		return &fault{keyword: "type"}
	}
	if (n.constant != nil || n.enum != nil) && r.spend(weight(value)) {
		key := appendKey(nil, value)
		if n.constant != nil && !n.constant[string(key)] {
			return &fault{keyword: "const"}
		}
		if n.enum != nil && !n.enum[string(key)] {
			return &fault{keyword: "enum"}
		}
	}
	switch v := value.(type) {
	case decimal:
		return r.number(n, v)
	case string:
		return r.text(n, v)
	case []any:
		return r.array(n, v)
	case object:
		return r.object(n, v)
	}
	return nil
}

func (r *run) number(n *node, d decimal) *fault {
	if low, ok := n.limits["minimum"]; ok && d.compare(low) < 0 {
		return &fault{keyword: "minimum"}
	}
	if low, ok := n.limits["exclusiveMinimum"]; ok && d.compare(low) <= 0 {
		return &fault{keyword: "exclusiveMinimum"}
	}
	if high, ok := n.limits["maximum"]; ok && d.compare(high) > 0 {
		return &fault{keyword: "maximum"}
	}
	if high, ok := n.limits["exclusiveMaximum"]; ok && d.compare(high) >= 0 {
		return &fault{keyword: "exclusiveMaximum"}
	}
	if step, ok := n.limits["multipleOf"]; ok && (!r.spend(d.multipleWork(step)) || !d.multiple(step)) {
		return &fault{keyword: "multipleOf"}
	}
	return nil
}

// text counts code points, as both dialects do.
func (r *run) text(n *node, text string) *fault {
	if n.counts != nil {
		if !r.spend(len(text) / 256) {
			return &fault{}
		}
		if f := n.within("minLength", "maxLength", utf8.RuneCountInString(text)); f != nil {
			return f
		}
	}
	if n.pattern != nil && !r.match(n.pattern, text) {
		return &fault{keyword: "pattern"}
	}
	return nil
}

func (r *run) array(n *node, list []any) *fault {
	if f := n.within("minItems", "maxItems", len(list)); f != nil {
		return f
	}
	if !n.unique {
		return nil
	}
	if !r.spend(weight(list)) {
		return &fault{}
	}
	found := make(map[string]bool, len(list))
	for _, value := range list {
		key := string(appendKey(nil, value))
		if found[key] {
			return &fault{keyword: "uniqueItems"}
		}
		found[key] = true
	}
	return nil
}

func (r *run) object(n *node, o object) *fault {
	if f := n.within("minProperties", "maxProperties", len(o.names)); f != nil {
		return f
	}
	if n.required != nil && (!r.spend(len(n.required)/8) || !o.hold(n.required)) {
		return &fault{keyword: "required"}
	}
	return nil
}

func (o object) hold(names []string) bool {
	for _, name := range names {
		if _, ok := o.members[name]; !ok {
			return false
		}
	}
	return true
}

// within holds a number of things against two counts.
func (n *node) within(least, most string, size int) *fault {
	if low, ok := n.counts[least]; ok && size < low {
		return &fault{keyword: least}
	}
	if high, ok := n.counts[most]; ok && size > high {
		return &fault{keyword: most}
	}
	return nil
}
