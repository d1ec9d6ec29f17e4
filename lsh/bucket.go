package lsh

// Hubs is the number of members of an over-full bucket with which every other
// member is paired.
//
// Such a bucket is nearly always one text in many copies: a single hub, verified against
// all, already joins the copies to one cluster. The bucket may be mixed, though: if a
// fraction f of it belongs together, a member of that group is paired with none of its
// own with probability (1−f)⁸, 0.4 % for half a bucket. More hubs would gain little and
// cost a verification a member each.
const Hubs = 8

// EachPair calls emit for pairs a < b of a bucket. If the bucket has at most limit
// members it emits all pairs, otherwise only those of each member with each of the first
// [Hubs] members: Hubs·n pairs instead of n²/2. The bucket must be strictly ascending, so
// the first members are the smallest. A limit of 0 or less means no limit. Members are
// document numbers of 32 bits, or positions of 64.
func EachPair[Doc uint32 | uint64](bucket []Doc, limit int, emit func(a, b Doc)) {
	first := len(bucket)
	if limit > 0 && len(bucket) > limit {
		first = min(Hubs, first)
	}
	for i, a := range bucket[:first] {
		for _, b := range bucket[i+1:] {
			emit(a, b)
		}
	}
}
