/** Lists the fields of rich-message events, sorted by name. */
export const names = (value: object) => Object.keys(value).sort()
export const fieldsOfMessage = [
  ...['content', 'conversation_id', 'created_at', 'direction', 'error_code', 'error_detail', 'error_message'],
  ...['error_reason', 'id', 'media', 'message_type', 'remote_number', 'service', 'status', 'updated_at'],
  'was_downgraded',
]
export const fieldsOfReaction = [
  ...['conversation_id', 'created_at', 'custom_emoji', 'direction', 'id', 'reaction', 'remote_number'],
  'target_message_id',
]
