/** `parley conform` finds faults in streams, audio, sockets and repeated requests. */
import { faultsOfStreams } from './faults.ts'
import { testFaults } from './seeded.ts'

await testFaults(faultsOfStreams)
