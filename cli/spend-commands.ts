import { credits } from './credits.ts'
import { usage } from './usage.ts'

/** The commands about spent money. */
export const spendCommands = [credits, usage]
