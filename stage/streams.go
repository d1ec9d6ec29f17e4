package stage

import "fmt"

// A Stream is a kind of rows that one stage writes and later ones read. It is divided into partitions.
type Stream uint32

// The streams: the words of a row, then its payload. The numbers are part of the format of blocks.
const (
	_            Stream = iota
	Documents           // position, flags; payload: name, text and field, for engines that hold the documents
	Totals              // number of documents of a task
	Rows                // position, digest, check; payload: keys
	Names               // hash of the name, position, partition of Rows<<1 | name was made of path and line; payload: the name
	Cards               // position, bytes of the text, flags; payload: name, field and, of a reference, its other name
	Skips               // position of a document that is skipped because another one has its name
	Repeats             // the same, and position of the other one, for the task of the document
	Renames             // position of a reference whose name is that of an input, too
	Damaged             // position of a record that cannot be used
	Keys                // key, position of a representative
	Copies              // representative, features of its set if pairs are found without keys, position of an equal document; to the task of the latter, or of the former for Pairs
	CopyEdges           // representative, position
	Hot                 // position of a member of a bucket over the cap, level of the bucket
	HotMembers          // key of a bucket over the cap, position of a member; by distance
	Looks               // position of a representative, of which all features are compared with samples
	Filters             // partition of Sampled, payload: filter of the keys there that are in samples
	Sampled             // key, votes that a document lacks<<56 | its position
	Votes               // position a, position b<<8 | 1 if the votes are of the sample of b<<7 | votes
	Buckets             // number of leading members to pair with all later ones; payload: positions, ascending, 8 bytes each
	Wants               // position, partition of Buckets that needs its set
	Sets                // position; payload: features, 8 bytes each, or signature
	OwnSets             // the same, for the task of the document
	HotSizes            // level, number of its documents, number of their features
	HotSets             // position, level, digest, features with repeats; payload: features, 8 bytes each
	HotEdges            // positions a < b (by containment: a inside b), bits of the similarity
	HotLinks            // the same without similarity, for Dedup
	ForestEdges         // positions a < b
	Edges               // positions a < b (by containment: a inside b), bits of the similarity
	Labels              // position, smallest position of its cluster
	StarEdges           // label, positions a and b
	Members             // label, position, representative, bytes of the text, flags; payload: name, field and set
	Fates               // position, documents of the cluster<<1 | 1 if removed, bits of the similarity; payload: names of document, cluster and kept document, file of the latter (4 bytes)
	Halves              // representative b, document a, bits of the similarity, 1 if a is in a crowd
	PairsFound          // positions a < b (by containment: a inside b), bits of the similarity
	CopyPairs           // the same, of equal documents
	NamedPairs          // the same; payload: name of b
	TableRows           // file of a table, number of its usable records
	Filled              // column, or a number behind the last column (see countTokens); count
	TokenCounts         // token, column, number of records that have it, task that counted them
	TokenWeights        // token, weight in records and flags; payload: columns and weights there, 2 bytes each
	RowKeys             // key, position of a record, with bands.RightBit if it is of the right table
	Candidates          // positions of a left and of a right record
	RowWants            // position, partition of Records that needs it
	Records             // position; payload: see tokenWeights.appendRecord
	Links               // positions of a left and of a right record; payload: line
	LinksText           // payload: lines of the list of links
	TableRecords        // position, 1 if the name was made; payload: name, values, and of Dedup the field of the keep rule
	MatchedText         // payload: lines of the list of links
	Told                // payload: a linkage.Report with its text, as JSON
	Drops               // position of a document that is removed or skipped
	RemovedText         // payload: lines of removed.csv
	ClustersText        // payload: lines of clusters.csv
	PairsText           // payload: lines of the list of pairs
	KeptText            // payload: lines of the list of kept documents that are files of their own
	TagRows             // payload: [position, cluster, documents of it, name of the kept document or null, similarity or null] as JSON
	Counts              // number of a Count, amount
	ValueCounts         // documents, removed ones and pairs of a value, to be added up; payload: the value. First rows of values are in the order of documents
	Forests             // positions a < b; a stream for each level of the tree
)

// The streams of plans of passages.
const (
	Pieces     = Forests + levels + iota // hash of a piece, position of a document that has it, check<<32 | its first place there: a byte, of substrings a token
	Repeated                             // position, hash of a piece that goes, position of the first document with it, its place there
	Sources                              // position of a first document, position of the document that is cut, start<<32 | end there, place at the source
	LittleText                           // payload: lines of little.csv
	Sourced                              // position, start<<32 | end, start at the source; payload: name of the first document
	FoundText                            // payload: lines of found.csv
	Firsts                               // position of the first document with a piece, its hash
	Units                                // hash of a piece, position of the first document with it, its place there; payload: its text
	Leads                                // hash of a piece, number of the one that leads its group, position of the first document with that, its place there
	Joined                               // number of a leader, position of a document, hash of its piece, position of the leader's first document, its place there
)

// The streams of plans that remove texts only for those in which they stand.
const (
	Draws       = Joined + 1 + iota // position of a representative by which it may be counted what many have, its order
	Represented                     // number of representatives
	Drawn                           // order, bytes of the text; payload: its beginning
	Common                          // payload: features that many have, 8 bytes each
	Similar                         // positions a and b
	HotSimilar                      // the same, of stage hot
	TextWants                       // position, partition of Texts that needs it
	Texts                           // position; payload: size by which the larger one stays, 8 bytes, and text
	Standing                        // positions a and b, of which one stands in the other
	streamsEnd
)

// by says how a row gets its partition.
type by uint8

const (
	byOne by = iota
	byDocuments
	byOwn // as byDocuments, from the task that reads the same documents, and no other
	byHash
	byTree
)

// streamForm is the form of a stream's rows.
type streamForm struct {
	name    string
	words   int
	payload bool
	by      by
}

var streams = [streamsEnd]streamForm{
	Documents:    {"documents", 2, true, byDocuments},
	Totals:       {"totals", 1, false, byOne},
	Rows:         {"rows", 3, true, byHash},
	Names:        {"names", 3, true, byHash},
	Cards:        {"cards", 3, true, byOwn},
	Skips:        {"skips", 1, false, byHash},
	Repeats:      {"repeats", 2, false, byDocuments},
	Renames:      {"renames", 1, false, byDocuments},
	Damaged:      {"damaged", 1, false, byOwn},
	Keys:         {"keys", 2, false, byHash},
	Copies:       {"copies", 3, false, byDocuments},
	CopyEdges:    {"copy-edges", 2, false, byTree},
	Hot:          {"hot", 2, false, byDocuments},
	HotMembers:   {"hot-members", 2, false, byOne},
	Looks:        {"looks", 1, false, byDocuments},
	Filters:      {"filters", 1, true, byDocuments},
	Sampled:      {"sampled", 2, false, byHash},
	Votes:        {"votes", 2, false, byHash},
	Buckets:      {"buckets", 1, true, byHash},
	Wants:        {"wants", 2, false, byDocuments},
	Sets:         {"sets", 1, true, byHash},
	OwnSets:      {"own-sets", 1, true, byOwn},
	HotSizes:     {"hot-sizes", 3, false, byOne},
	HotSets:      {"hot-sets", 4, true, byOne},
	HotEdges:     {"hot-edges", 3, false, byDocuments},
	HotLinks:     {"hot-links", 2, false, byTree},
	ForestEdges:  {"forest-edges", 2, false, byTree},
	Edges:        {"edges", 3, false, byDocuments},
	Labels:       {"labels", 2, false, byDocuments},
	StarEdges:    {"star-edges", 3, false, byHash},
	Members:      {"members", 5, true, byHash},
	Fates:        {"fates", 3, true, byDocuments},
	Halves:       {"halves", 4, false, byDocuments},
	PairsFound:   {"pairs-found", 3, false, byDocuments},
	CopyPairs:    {"copy-pairs", 3, false, byDocuments},
	NamedPairs:   {"named-pairs", 3, true, byDocuments},
	TableRows:    {"table-rows", 2, false, byDocuments},
	Filled:       {"filled", 2, false, byHash},
	TokenCounts:  {"token-counts", 4, false, byHash},
	TokenWeights: {"token-weights", 2, true, byDocuments},
	RowKeys:      {"row-keys", 2, false, byHash},
	Candidates:   {"candidates", 2, false, byHash},
	RowWants:     {"row-wants", 2, false, byDocuments},
	Records:      {"records", 1, true, byHash},
	Links:        {"links", 2, true, byDocuments},
	LinksText:    {"links-text", 0, true, byOne},
	TableRecords: {"table-records", 2, true, byOne},
	MatchedText:  {"matched-text", 0, true, byOne},
	Told:         {"told", 0, true, byOne},
	Drops:        {"drops", 1, false, byDocuments},
	RemovedText:  {"removed-text", 0, true, byOne},
	ClustersText: {"clusters-text", 0, true, byOne},
	KeptText:     {"kept-text", 0, true, byOne},
	PairsText:    {"pairs-text", 0, true, byOne},
	TagRows:      {"tag-rows", 0, true, byDocuments},
	Counts:       {"counts", 2, false, byOne},
	ValueCounts:  {"value-counts", 3, true, byOne},
	Pieces:       {"pieces", 3, false, byHash},
	Repeated:     {"repeated", 4, false, byDocuments},
	Sources:      {"sources", 4, false, byDocuments},
	LittleText:   {"little-text", 0, true, byOne},
	Sourced:      {"sourced", 3, true, byDocuments},
	FoundText:    {"found-text", 0, true, byOne},
	Firsts:       {"firsts", 2, false, byDocuments},
	Units:        {"units", 3, true, byOne},
	Leads:        {"leads", 4, false, byHash},
	Joined:       {"joined", 5, false, byHash},
	Draws:        {"draws", 2, false, byDocuments},
	Represented:  {"represented", 1, false, byOne},
	Drawn:        {"drawn", 2, true, byOne},
	Common:       {"common", 0, true, byHash},
	Similar:      {"similar", 2, false, byHash},
	HotSimilar:   {"hot-similar", 2, false, byHash},
	TextWants:    {"text-wants", 2, false, byDocuments},
	Texts:        {"texts", 1, true, byHash},
	Standing:     {"standing", 2, false, byDocuments},
}

func init() {
	for level := range levels {
		streams[Forests+Stream(level)] = streamForm{fmt.Sprintf("forests%d", level+1), 2, false, byTree}
	}
}

// String returns the name of the stream in plans and messages.
func (s Stream) String() string {
	if s < 1 || s >= streamsEnd {
		return fmt.Sprintf("%d", uint32(s))
	}
	return streams[s].name
}

// Own tells whether partition i of the stream comes from task i only.
func (s Stream) Own() bool { return s < streamsEnd && streams[s].by == byOwn }

// Streams returns the numbers of all streams by their names.
func Streams() map[string]Stream {
	all := map[string]Stream{}
	for s := Stream(1); s < streamsEnd; s++ {
		all[streams[s].name] = s
	}
	return all
}

// A Count names a quantity that tasks count, in the stream Counts.
type Count uint64

// The counts.
const (
	CountRead Count = iota
	CountSkipped
	CountEmpty
	CountCapped
	CountMissed // documents that may lack some of their pairs
	CountCompared
	CountVerified
	CountClusters
	CountRemoved // or tagged
	CountPairs   // or passages
	CountReferences
	CountReferencesSkipped
	CountCutBytes
	CountChanged
	CountEmptied   // of them
	CountLittle    // of them
	CountUndecided // 1: the data do not tell which records are the same
	CountRepresentatives
	CountPartial // similar pairs of which no text stands in the other one
	CountsEnd
)

// mergeWidth is how many tasks send their forests to one task.
const mergeWidth = 16

// levels is the largest number of merging stages: mergeWidth to the power of levels is MaxPartitions.
const levels = 4

// when returns a stream if it is wanted, otherwise zero: a stream that has no rows, and that no stage reads or writes.
func when(wanted bool, s Stream) Stream {
	if wanted {
		return s
	}
	return 0
}

// Write is the stage that makes the result lines: for Dedup by documents, for lists of pairs by the first document.
const Write = "write"

// Match is the stage whose one task decides which records belong together.
const Match = "match"

// Publish is the last stage. It puts the outputs into their places. It is no function over blocks, so Run
// does not know it: the program that runs the stages does this work.
const Publish = "publish"

// Stage is a stage of a plan.
type Stage struct {
	Name  string   `json:"stage"`
	Tasks int      `json:"tasks"`
	Reads []string `json:"reads,omitempty"` // streams; task i reads partition i of each, that of a joined stage all
	// Documents tells whether tasks read documents. Task i reads the files from FirstFiles[i] up to the
	// first file of the next task.
	Documents bool     `json:"documents,omitempty"`
	Writes    []string `json:"writes,omitempty"`

	reads, writes []Stream
	run           func(t *task) error
	steps         []Stage // of a joined stage; nil: it is none
}
