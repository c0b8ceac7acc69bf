package dev.parley.client;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Set;

/**
 * One contract of a server. The generated clients have a contract each.
 *
 * @param prefix the path before the contract's paths
 * @param json reads and writes the contract's types
 * @param retryableCodes the error codes whose request or socket may succeed when it is tried again
 * @param closeCodes the error codes that close a socket
 */
public record Contract(String prefix, JsonMapper json, Set<String> retryableCodes, Set<String> closeCodes) {
}
