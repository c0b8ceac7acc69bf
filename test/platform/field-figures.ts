/** The limits of single fields, for the comparison with the contract. */

/** Fields that published clients send. Each accepts only its neutral value, because this server lacks the feature. */
export const neutral = (providers: string) => ({
  [`${providers}.allowedProviders.s2s`]: '…0',
  [`${providers}.allowedProviders.s2S`]: '…0',
  'backgroundAudio.ambient.soundId': '…0',
  'backgroundAudio.toolSound.soundId': '…0',
  'backgroundAudio.toolSound.minDurationMs': '0…0',
  'backgroundAudio.toolSound.startDelayMs': '0…0',
  'turnHandling.noiseCancellation.enabled': 'false',
  'turnHandling.contextThreshold': 'false',
  'turnHandling.greetFirst': 'true',
})

export const connectionFigures = {
  ...{ name: '1…80', provider: '1…80' },
  'outbound.host': '…253, ^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$',
  'outbound.port': '1…65535',
  ...{ 'outbound.transport': 'udp|tcp', 'outbound.identity': 'from|preferred|asserted' },
  ...{ 'outbound.username': '1…128, ^[!-~]+$', 'outbound.password': '1…256, ^[ -~]+$' },
  'inbound.allowedAddresses': '…32',
  'inbound.allowedAddresses[]': '^[0-9a-fA-F:.]{2,45}/\\d{1,3}$',
  ...{ 'inbound.username': '1…128, ^[!-~]+$', 'inbound.password': '12…256, ^[ -~]+$' },
}
