package config

// relax blanks what JSON with comments has and strict JSON has not: comments and commas before a closing bracket.
// Every other byte stays where it is. It also says where each of the two came first; -1 stands for nowhere.
func relax(data []byte) (plain []byte, h habits) {
	plain = append([]byte{}, data...)
	h = habits{-1, -1}
	note := func(first *int64, i int) {
		if *first < 0 || int64(i) < *first {
			*first = int64(i)
		}
	}
	comma := -1 // the last comma with nothing but blanks behind it
	for i := 0; i < len(plain); i++ {
		switch c := plain[i]; {
		case c == '"':
			comma, i = -1, stringEnd(plain, i)
		case c == '/' && commentEnd(plain, i) > i:
			end := commentEnd(plain, i)
			note(&h.comment, i)
			blank(plain[i:end])
			i = end - 1
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			note(&h.comma, comma)
			plain[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	return plain, h
}

// habits is where a text first does what strict JSON does not admit and other programs do.
type habits struct{ comment, comma int64 }

// first names the one that comes first, and where; "" for none.
func (h habits) first() (habit string, at int64) {
	switch {
	case h.comment >= 0 && (h.comma < 0 || h.comment < h.comma):
		return "comment", h.comment
	case h.comma >= 0:
		return "trailing comma", h.comma
	}
	return "", -1
}

// stringEnd returns the index of the quote that closes the string at i, or the last index.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(data) - 1
}

// commentEnd returns the index behind the comment that starts at i, and i when none does.
func commentEnd(data []byte, i int) int {
	if i+1 >= len(data) {
		return i
	}
	switch data[i+1] {
	case '/':
		for i < len(data) && data[i] != '\n' {
			i++
		}
	case '*':
		for i += 2; i < len(data); i++ {
			if data[i-1] == '*' && data[i] == '/' {
				return i + 1
			}
		}
	}
	return i
}

func blank(data []byte) {
	for i, c := range data {
		if c != '\n' && c != '\r' {
			data[i] = ' '
		}
	}
}
