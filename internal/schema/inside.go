package schema

import "strconv"

// inside evaluates what is asked of members and elements.
func (r *run) inside(n *node, value any, here seen) *fault {
	switch v := value.(type) {
	case object:
		return r.members(n, v, here)
	case []any:
		return r.elements(n, v, here)
	}
	return nil
}

func (r *run) members(n *node, o object, here seen) *fault {
	if n.props == nil && n.patterns == nil && n.additional == nil && n.names == nil && n.unevaluated == nil {
		return nil
	}
	if !r.spend(len(o.names) / 8) {
		return &fault{}
	}
	for _, name := range o.names {
		if f := r.member(n, name, o.members[name], here); f != nil {
			return f
		}
	}
	if n.unevaluated == nil {
		return nil
	}
	for _, name := range o.names {
		if _, evaluated := here[name]; evaluated {
			continue
		}
		if f := r.visit(n.unevaluated, o.members[name], 0, nil); f != nil {
			return f.under(name)
		}
		here.mark(name)
	}
	return nil
}

func (r *run) member(n *node, name string, value any, here seen) *fault {
	if n.names != nil && r.visit(n.names, name, 0, nil) != nil {
		return &fault{keyword: "propertyNames"}
	}
	sub, meant := n.props[name]
	if meant {
		if f := r.visit(sub, value, 0, nil); f != nil {
			return f.under(name)
		}
	}
	for _, p := range n.patterns {
		if r.match(p.matcher, name) {
			meant = true
			if f := r.visit(p.sub, value, 0, nil); f != nil {
				return f.under(name)
			}
		}
	}
	if n.additional != nil && !meant {
		if meant = true; n.additional.never { // the name is at fault, not the value
			return &fault{keyword: "additionalProperties"}
		}
		if f := r.visit(n.additional, value, 0, nil); f != nil {
			return f.under(name)
		}
	}
	if meant {
		here.mark(name)
	}
	return nil
}

func (r *run) elements(n *node, list []any, here seen) *fault {
	for i, value := range list {
		sub := n.items
		if i < len(n.prefix) {
			sub = n.prefix[i]
		}
		if sub == nil {
			break
		}
		if f := r.visit(sub, value, 0, nil); f != nil {
			return f.under(strconv.Itoa(i))
		}
		here.mark(i)
	}
	if f := r.containing(n, list, here); f != nil {
		return f
	}
	if n.leftover == nil {
		return nil
	}
	for i, value := range list {
		if _, evaluated := here[i]; evaluated {
			continue
		}
		if f := r.visit(n.leftover, value, 0, nil); f != nil {
			return f.under(strconv.Itoa(i))
		}
		here.mark(i)
	}
	return nil
}

// containing evaluates contains, whose least count is 1 when nothing else is said.
func (r *run) containing(n *node, list []any, here seen) *fault {
	if n.contains == nil {
		return nil
	}
	found := 0
	for i, value := range list {
		if r.visit(n.contains, value, 0, nil) == nil {
			found++
			here.mark(i)
		}
		if r.why != "" {
			return &fault{}
		}
	}
	if _, said := n.counts["minContains"]; !said && found == 0 {
		return &fault{keyword: "contains"}
	}
	return n.within("minContains", "maxContains", found)
}
