/** The router's commands: they recognize, speak, answer, and explain a choice. */
import { models } from './models.ts'
import { preview } from './preview.ts'
import { respond } from './respond.ts'
import { speak } from './speak.ts'
import { transcribe } from './transcribe.ts'
import { why } from './why.ts'

export const speechCommands = [transcribe, speak, respond, models, preview, why]
