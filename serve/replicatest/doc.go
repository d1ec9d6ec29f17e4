// Package replicatest holds what replicas of the service answer against one collection, by recorded histories: three
// servers of NATS and two or four replicas run as processes, clients ask them, and meanwhile processes are killed,
// stopped and cut off. Each history must be linearizable, and the log, applied once more, must give the same verdicts.
//
// ALIKE_HISTORIES is how many histories there are, 5 unless it is said, and ALIKE_FIRST the number of the first, by which
// its failure and what clients ask are chosen: 0. ALIKE_POWER is how often the power fails for all of them at once, on a
// disk that loses what was not synced: 0, since that needs root and loop devices.
package replicatest
