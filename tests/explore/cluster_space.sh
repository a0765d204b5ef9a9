# SPDX-License-Identifier: Apache-2.0
# For the tests of clusters, in their folder: space.yaml, and the document whole.json that one process
# makes of it.
cat > space.yaml <<END
schema: 1
networks: [$source/examples/networks/patent_chain.yaml]
profile: $source/hw_profiles/edge_npu_64kib.yaml
vary:
  memories.sram.capacity_bytes: [1Ki, 4Ki, 8Ki]
  memories.dram.port.bytes_per_cycle: [1, 4]
minimize: [latency, memories.sram.capacity_bytes]
options: {max_operators: 2, budget: 500}
END
"$TESSERA" explore space.yaml --store whole.db > /dev/null
"$TESSERA" explore export whole.db --canonical > whole.json
