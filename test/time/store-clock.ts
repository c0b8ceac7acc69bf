/**
 * The clock for a store under test. Its loops run when the test lets time pass, and it begins at the database's time.
 */
import { TestClock } from '../clock.ts'
import { wholeProcess } from './quiet.ts'

export const storeClock = () => new TestClock({ startMs: Date.now(), quiet: wholeProcess })

/** Lets as much time pass as on the system clock, so that other processes do not take this store for dead. */
export const followSystemClock = (clock: TestClock) => clock.leap(Math.max(0, Date.now() - clock.nowMs()))
