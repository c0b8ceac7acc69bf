/** The commands that depend on all other commands, such as the shell completion. So they are added last. */
import { completion } from './completion.ts'
import { operationCommands } from './operation-commands.ts'

export const lastCommands = [operationCommands, completion]
