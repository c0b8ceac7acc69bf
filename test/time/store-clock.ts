/**
 * The clock for a store under test. Its loops run when the test lets time pass, and it begins at the database's time.
 */
import { TestClock } from '../clock.ts'
import { wholeProcess } from './quiet.ts'

export const storeClock = () => new TestClock({ startMs: Date.now(), quiet: wholeProcess })
