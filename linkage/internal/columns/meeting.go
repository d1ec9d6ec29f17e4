package columns

// A Meeting is the columns of several tables, in which those that hold the same are one. The zero value has none.
type Meeting struct{ columns []profile }

// Add takes the columns of another table, and returns the name of each in the meeting: that of the column it corresponds to,
// by name or by the words that both hold, or else its own. The column of the ids takes no part, and its name is empty.
func (m *Meeting) Add(of *Sample) (names []string) {
	var at []int
	var columns []profile
	names = make([]string, len(of.Names))
	for i, p := range profiles(of) {
		if p.name != of.ID {
			at, columns, names[i] = append(at, i), append(columns, p), p.name
		}
	}
	met := make([]bool, len(columns))
	for _, p := range correspond(m.columns, columns, nil) {
		met[p[1]], names[at[p[1]]] = true, m.columns[p[0]].name
	}
	for i, p := range columns {
		if !met[i] {
			m.columns = append(m.columns, p)
		}
	}
	return names
}

// Names returns the names of all columns, in the order in which tables added them.
func (m *Meeting) Names() []string {
	names := make([]string, len(m.columns))
	for i, p := range m.columns {
		names[i] = p.name
	}
	return names
}
