import type { UsedTokens } from '../../domain/access/ephemeral.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { clockSkewMs } from '../sharing/used-tokens.ts'
import type { Redis } from './connection.ts'

/**
 * Records used tokens in Redis. While Redis is unreachable, tokens are refused, because a token might have been used
 * before.
 */
export function createRedisUsedTokens(redis: Redis, clock: Clock): UsedTokens {
  return {
    spend: (organizationId, tokenId, expiresAtMs) => {
      const lifeMs = Math.ceil(Math.max(expiresAtMs - clock.nowMs(), 0) + clockSkewMs)
      return redis.setOnce(`used-token:${organizationId}:${tokenId}`, lifeMs)
    },
  }
}
