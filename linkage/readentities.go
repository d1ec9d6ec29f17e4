package linkage

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// An EntityOf says to which entity a record of a table belongs.
type EntityOf struct{ Table, ID, Entity string }

// ReadEntities reads a table of records and their entities: from the columns table, id and entity. A record in two entities is an
// error: nobody knows in which of them it is.
func ReadEntities(ctx context.Context, file string, o corpus.Options) (list []EntityOf, err error) {
	s, err := findSource(ctx, file, corpus.NoID, o)
	if err != nil {
		return nil, err
	}
	names := []string{"table", "id", "entity"}
	for _, name := range names {
		if !slices.Contains(s.columns, name) {
			return nil, fmt.Errorf("%s has no column %s, it has: %s; alike entities writes table, id and entity", fault.Shown(file), name, fault.List(s.columns))
		}
	}
	entities := map[[2]string]string{}
	err = s.each(ctx, names, func(r *corpus.Record) (more bool, err error) {
		if r.Err != nil {
			return false, &corpus.Problem{Path: file, Line: r.Line, Err: r.Err}
		}
		of := EntityOf{string(r.Fields[0]), string(r.Fields[1]), string(r.Fields[2])}
		record := [2]string{of.Table, of.ID}
		if before, there := entities[record]; there && before != of.Entity {
			return false, fmt.Errorf("%s: record %s of %s stands in two entities, %s and %s: leave it in one, or give records ids of their own",
				fault.Shown(file), fault.Shown(of.ID), fault.Shown(of.Table), fault.Shown(before), fault.Shown(of.Entity))
		}
		entities[record] = of.Entity
		list = append(list, of)
		return true, nil
	})
	return list, err
}

// EntitiesOfTable returns the entity of each record of a table by its id. The table is known by its name, else by that of its
// file alone, if only one has it.
func EntitiesOfTable(list []EntityOf, table string) (entities map[string]string, err error) {
	base := func(name string) string { return path.Base(filepath.ToSlash(name)) }
	var others []string
	for _, same := range []func(name string) bool{
		func(name string) bool { return name == table },
		func(name string) bool { return base(name) == base(table) },
	} {
		entities = map[string]string{}
		found := ""
		for _, of := range list {
			if same(of.Table) {
				if found != "" && found != of.Table {
					return nil, fmt.Errorf("the entities are of %s and of %s: which of them is %s? call it by the name that it had", fault.Shown(found), fault.Shown(of.Table), fault.Shown(table))
				}
				found = of.Table
				entities[of.ID] = of.Entity
			} else if !slices.Contains(others, of.Table) {
				others = append(others, of.Table)
			}
		}
		if len(entities) > 0 {
			return entities, nil
		}
	}
	return nil, fmt.Errorf("there are no entities of %s, but of: %s", fault.Shown(table), fault.List(others))
}
