import { checkServing } from '../../app/settings.ts'
import { configKeys } from '../../generated/config/keys.ts'
import type { ParleyConfig } from '../../generated/config/types.ts'
import { validateConfig } from '../../generated/config/validator.ts'
import { loadConfig } from '../../runtime/process/config.ts'

/** Returns the settings if a server may start with them, and rejects otherwise. */
export async function serving(env: Record<string, string>): Promise<ParleyConfig> {
  const config = await loadConfig<ParleyConfig>(env, configKeys, validateConfig)
  checkServing(config, env)
  return config
}
