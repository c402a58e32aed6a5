// What the editor shows at first: a train.yaml as a person would write it.

export const kExample = `name: gr00t-finetune

model:
  # memory of one process = base + per_sample × micro-batch + overhead
  memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}

training:
  max_steps: 10000
  effective_batch_size: [120, 144]   # kept on every kind of GPU
  bf16: auto
  gradient_checkpointing: auto
  measured:
    - {gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}

resources: {cpus_per_gpu: 8, mem_per_gpu: 20G, max_nodes: 1}

output: {dir: /scratch/$USER/gr00t, checkpoint: 7 GB, keep: 5}

command: >-
  torchrun --nproc_per_node={gpus_per_node} train.py
  --batch-size {micro_batch}
  --gradient-accumulation-steps {accumulation}
`;
