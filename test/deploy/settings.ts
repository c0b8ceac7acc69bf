import { checkServing } from '../../app/settings.ts'
import { configKeys } from '../../generated/config/keys.ts'
import type { ParleyConfig } from '../../generated/config/types.ts'
import { validateConfig } from '../../generated/config/validator.ts'
import { loadConfig } from '../../runtime/process/config.ts'

/** The settings, if a server may start with them. Rejects otherwise. */
export async function serving(env: Record<string, string>): Promise<ParleyConfig> {
  const config = await loadConfig<ParleyConfig>(env, configKeys, validateConfig)
  checkServing(config, env)
  return config
}
