import { audit } from './audit.ts'
import { credits } from './credits.ts'
import { usage } from './usage.ts'

/** The commands that show an organization's use and credit. */
export const spendCommands = [credits, usage, audit]
