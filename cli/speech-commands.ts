/**
 * The commands over the router API: they recognize speech, synthesize speech, generate answers and explain the model
 * choice.
 */
import { models } from './models.ts'
import { preview } from './preview.ts'
import { respond } from './respond.ts'
import { speak } from './speak.ts'
import { transcribe } from './transcribe.ts'
import { why } from './why.ts'

export const speechCommands = [transcribe, speak, respond, models, preview, why]
