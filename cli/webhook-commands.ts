/** The commands for webhook events: they receive events here, send sample events, and show endpoints and deliveries. */
import { listen } from './listen.ts'
import { trigger } from './trigger.ts'
import { webhooks } from './webhooks.ts'

export const webhookCommands = [listen, trigger, webhooks]
