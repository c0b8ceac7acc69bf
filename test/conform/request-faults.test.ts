/** `parley conform` finds faults of a server that accepts requests it must refuse, and faults of its sockets. */
import { faultsOfRequests, faultsOfSockets } from './request-faults.ts'
import { testFaults } from './seeded.ts'

await testFaults([...faultsOfRequests, ...faultsOfSockets])
