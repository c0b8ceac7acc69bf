/** Commands made from all other commands, so they are added last. */
import { completion } from './completion.ts'
import { operationCommands } from './operation-commands.ts'

export const lastCommands = [operationCommands, completion]
