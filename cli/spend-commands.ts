import { credits } from './credits.ts'
import { usage } from './usage.ts'

/** The commands about money that was spent. */
export const spendCommands = [credits, usage]
