package linkage

import (
	"github.com/alike-dev/alike/linkage/internal/entities"
)

// A Cluster is records of one table that are one thing, see Config.Clusters. Members and the ends of pairs are
// numbers of records as in Link.RowA; Evidence of pairs is in nats.
type Cluster = entities.Cluster

// Entities are the clusters of one table. Right, RightAlone, Pairs and Matches are expected numbers of pairs.
type Entities = entities.Result

// Reasons why two records that are likely one thing share no cluster.
const (
	BySource  = entities.BySource
	ByVerdict = entities.ByVerdict
	ByOthers  = entities.ByOthers
)
