// Recognition of other programs' files without a magic number: by sizes, checksums and fields
// that fit each other.
#pragma once

#include "formats/other_kinds.h"

namespace btf {

bool is_matlab_4(const FileStart& start);
bool is_idx(const FileStart& start);
bool is_vectors_of_words(const FileStart& start);  // each with its length in front
bool is_vectors_of_bytes(const FileStart& start);
bool is_tensorboard_log(const FileStart& start);
bool is_tfrecord(const FileStart& start);
bool is_tensorflow_tensor(const FileStart& start);
bool is_saved_model(const FileStart& start);
bool is_graph_def(const FileStart& start);
bool is_checkpoint_shard(const FileStart& start);
bool is_paddle_parameters(const FileStart& start);
bool is_core_ml_weights(const FileStart& start);
bool is_flax_msgpack(const FileStart& start);
bool is_joblib(const FileStart& start);
bool is_pickle_of_numpy(const FileStart& start);

}  // namespace btf
