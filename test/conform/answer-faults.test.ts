/** `parley conform` finds faults in documents, answers and errors. */
import { faultsOfAnswers } from './faults.ts'
import { testFaults } from './seeded.ts'

await testFaults(faultsOfAnswers)
